package main

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/options"
)

// walletConfig reads the options that concern wallets; nil with -disablewallet.
func walletConfig(s *session) (*trawl.WalletConfig, error) {
	o := s.settings
	if o.Bool("disablewallet", false) {
		return nil, nil
	}
	if o.IsDoubleNegated("wallet") {
		return nil, refuse("Invalid value detected for '-wallet' or '-nowallet'. " +
			"'-wallet' requires a string value, while '-nowallet' accepts only '1' to disable all wallets")
	}
	dir := o.Path("walletdir", "")
	if dir != "" {
		info, err := os.Stat(dir)
		switch {
		case err != nil:
			return nil, refuse("Specified -walletdir \"%s\" does not exist", dir)
		case !info.IsDir():
			return nil, refuse("Specified -walletdir \"%s\" is not a directory", dir)
		case !filepath.IsAbs(dir):
			return nil, refuse("Specified -walletdir \"%s\" is a relative path", dir)
		}
	}
	if dir == "" && !(options.OS{}).IsDir(filepath.Join(s.netDir, "wallets")) {
		dir = s.netDir // as old versions of Core have them, and makeDirs leaves it
	}
	warnOfDuplicates(s, dir)
	w := &trawl.WalletConfig{
		Forget: debug.FreeOSMemory, Warn: func(text string) { showWarning(s.stderr, text) },
		Dir: dir, Settings: o.SettingsFile(), NoSettings: o.SettingsFile() == "",
		Load: o.Strings("wallet"), LoadNone: o.IsNegated("wallet"), LoadNamed: options.HidesSettings(o, "wallet"),
		AddressType: o.String("addresstype", ""), ChangeType: o.String("changetype", ""),
		KeyPool: atLeastOne(o.Int("keypool", defaultKeyPool)), AnyChain: o.Bool("walletcrosschain", false),
		NoSync:      o.Bool("unsafesqlitesync", false),
		NoBroadcast: !o.Bool("walletbroadcast", !o.Bool("blocksonly", false)),
	}
	return w, readSpending(o, w)
}

// warnOfDuplicates warns of wallets that are to be loaded twice: by any of their paths they
// are loaded once.
func warnOfDuplicates(s *session, dir string) {
	if dir == "" {
		dir = filepath.Join(s.netDir, "wallets")
	}
	seen := make(map[string]bool)
	for _, name := range s.settings.Strings("wallet") {
		path := name
		if !filepath.IsAbs(name) {
			path = filepath.Join(dir, name)
		}
		if seen[path] {
			text := fmt.Sprintf("Ignoring duplicate -wallet %s.", name)
			showWarning(s.stderr, text)
			corelog.Printf(s.log, slog.LevelWarn, "%s", text)
		}
		seen[path] = true
	}
}

// defaultKeyPool is Core's DEFAULT_KEYPOOL_SIZE.
const defaultKeyPool = 1000
