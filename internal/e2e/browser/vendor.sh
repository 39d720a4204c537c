#!/usr/bin/env bash
# Brings the files of others that the page's test in a browser has into the tree again. Each package
# is of one version, and its archive has to have the hash that npm's registry had for it.
set -euo pipefail
cd "$(dirname "$0")/../../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# bring PACKAGE VERSION SHA512 FOLDER FILE… unpacks files of a package into a folder.
bring() {
	local package=$1 version=$2 want=$3 folder=$4
	shift 4
	local archive="$work/$package-$version.tgz"
	(cd "$work" && npm pack --silent "$package@$version" >/dev/null)
	local got
	got=$(openssl dgst -sha512 -binary "$archive" | base64 -w0)
	if [ "$got" != "$want" ]; then
		echo "$package $version has the hash $got" >&2
		exit 1
	fi
	rm -rf "$folder"
	mkdir -p "$folder"
	for file in "$@"; do
		tar -xzOf "$archive" "package/$file" >"$folder/$(basename "$file")"
	done
	(cd "$folder" && sha256sum -- * >"$work/sums" && mv "$work/sums" SHA256SUMS && chmod 644 -- *)
}

bring axe-core 4.14.1 'FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==' \
	internal/e2e/browser/testdata/axe axe.min.js LICENSE
