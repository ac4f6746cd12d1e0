# SPDX-License-Identifier: GPL-2.0
# For tests that write files, byte by byte, and look at what is in others.
package Files;
use strict;
use warnings;
use Exporter qw(import);
use File::Basename qw(dirname);
use File::Path qw(make_path);

our @EXPORT = qw(put get);

# put PATH, BYTES: a file, in a folder that is made for it; executable if it is a script
sub put
{
	my ($path, $bytes) = @_;
	make_path(dirname($path));
	open my $file, '>:raw', $path or die "$path: $!";
	print {$file} $bytes;
	close $file or die "$path: $!";
	chmod 0755, $path if $bytes =~ /^#!/;
	return;
}

# get PATH: what is in it; nothing if there is none
sub get
{
	my ($path) = @_;
	open my $file, '<:raw', $path or return '';
	local $/;
	return <$file> // '';
}

1;
