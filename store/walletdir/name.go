package walletdir

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// CheckName says in later Core's words why no new wallet can have a name; it is empty where one can. A path that is
// refused could leave the directory of wallets without being absolute.
func CheckName(name string) string {
	volume := filepath.VolumeName(name)
	path := filepath.ToSlash(name[len(volume):])
	rooted := volume != "" || strings.HasPrefix(path, "/")
	elements := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	up := 0 // elements at the beginning that lead upwards
	for !rooted && up < len(elements) && elements[up] == ".." {
		up++
	}
	dots := func(element string) bool { return element == "." || element == ".." }
	switch {
	case path == "." && !rooted:
		return relativeName
	case slices.ContainsFunc(elements[up:], dots), up > 0 && up == len(elements) && strings.HasSuffix(path, "/"):
		return "Wallet name given as a path must be normalized"
	case up > 0:
		return relativeName
	case rooted && len(elements) == 0:
		return "Wallet name cannot be the root path"
	}
	return ""
}

const relativeName = "Wallet name given as a relative path cannot begin with ./ or ../, for wallets not in the " +
	"walletdir, please use an absolute path."

// SuggestedName is how a wallet may be called by the path of its backup. A wallet's directory has a file of the given
// name.
func SuggestedName(path, fileName string) string {
	base := filepath.Base(path)
	if base == fileName {
		base = filepath.Base(filepath.Dir(path))
	}
	name := strings.TrimSuffix(base, filepath.Ext(base))
	if name == "" || name == "." || name == string(filepath.Separator) {
		return "restored"
	}
	return name
}

// FreeName returns the given name if it is free, else its first free variant. If none of 1000
// variants is free, FreeName returns the given name, too.
func FreeName(name string, free func(string) bool) string {
	if free(name) {
		return name
	}
	const tries = 1000
	for n := 1; n <= tries; n++ {
		ending := "-restored"
		if n > 1 {
			ending = "-" + strconv.Itoa(n)
		}
		if free(name + ending) {
			return name + ending
		}
	}
	return name
}
