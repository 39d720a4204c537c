package wallets

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed61375155/trawl/internal/wallet/codes"
)

// checkName refuses names of new wallets by which a path can leave the wallets directory
// without being absolute.
func (h *home) checkName() error {
	if wrong := wrongName(h.name); wrong != "" {
		return codes.Errorf(codes.Wallet, "Wallet file verification failed. %s", wrong)
	}
	return nil
}

// wrongName says in later Core's words why a new wallet cannot have a name; it is empty where it can.
func wrongName(name string) string {
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
