// Package walletdir says where wallets lie: each in a directory that its name leads to, from the directory of all
// wallets. Names are checked here, and directories are made.
//
// Source: Bitcoin Core v32, wallet/wallet.cpp (GetWalletPath) and wallet/walletutil.cpp.
package walletdir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed61375155/trawl/store/walletdb"
)

// Join joins a wallet's name to a directory as Core does: nothing of it is cleaned up, so that texts show what the
// client wrote.
func Join(dir, name string) string {
	switch {
	case filepath.IsAbs(name):
		return name
	case strings.HasSuffix(dir, string(filepath.Separator)):
		return dir + name
	default:
		return dir + string(filepath.Separator) + name
	}
}

// File returns the path of the file of a wallet that lies in a directory.
func File(dir string) string {
	return strings.TrimSuffix(dir, string(filepath.Separator)) + string(filepath.Separator) + walletdb.FileName
}

// CheckPath says in Core's words why a wallet's directory cannot be where its name leads, from the directory of all
// wallets. It is empty where it can.
func CheckPath(dir, name string) string {
	path := Join(dir, name)
	link, err := os.Lstat(path)
	to, broken := os.Stat(path)
	if err != nil || broken == nil && to.IsDir() || link.Mode().IsRegular() && filepath.Base(name) == name {
		return "" // what is not there may be made
	}
	return fmt.Sprintf("Invalid -wallet path '%s'. -wallet path should point to a directory where wallet.dat and "+
		"database/log.?????????? files can be stored, a location where such a directory could be created, "+
		"or (for backwards compatibility) the name of an existing data file in -walletdir (\"%s\")", name, dir)
}

// In returns the default directory of wallets for a network's folder. It is the folder itself if that has wallets, as
// with old versions of Core, but no directory named wallets. Otherwise it is the directory wallets below the folder,
// which is made if it is missing.
func In(netDir string) (string, error) {
	dir := filepath.Join(netDir, "wallets")
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return dir, nil
	}
	for _, pattern := range []string{walletdb.FileName, filepath.Join("*", walletdb.FileName)} {
		if old, err := filepath.Glob(filepath.Join(netDir, pattern)); err == nil && len(old) > 0 {
			return netDir, nil
		}
	}
	return dir, os.MkdirAll(dir, 0o700)
}

// Find returns the directory of wallets for a network's folder as [In] does, and makes nothing.
func Find(netDir string) string {
	dir := filepath.Join(netDir, "wallets")
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return dir
	}
	return netDir
}
