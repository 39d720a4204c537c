package walletdir

import (
	"path/filepath"
	"slices"
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
