package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/store/walletdb"
	"github.com/seed61375155/trawl/store/walletdir"
)

// keyPool is how many addresses a new wallet derives ahead, as in Core.
const keyPool = 1000

// tool works on one wallet.
type tool struct {
	*streams

	net      *dialect.Network
	names    options.Names
	client   string // the reference node
	name     string // of the wallet
	dir      string // the wallet's own
	dumpFile string // as it was given; empty: none
	disk     vfs.FS // that dumps are written to
}

// newTool finds the wallet on a network. fresh says that it is to be made.
func newTool(net *dialect.Network, s *options.Settings, std *streams, fresh bool) (*tool, error) {
	t := &tool{
		streams: std, net: net, names: options.NamesOf(s.Dialect()), client: options.ClientOf(s.Dialect()),
		name: s.String("wallet", ""), dumpFile: s.String("dumpfile", ""), disk: vfs.OS,
	}
	unnamed := net.Answers.UnnamedWallets
	if fresh && !s.IsSet("wallet") && (s.Words()[0] == "create" || !unnamed) {
		return nil, failf("Wallet name must be provided when creating a new wallet.")
	}
	all := walletdir.Find(s.NetDir())
	if fresh || !net.Answers.AnyWalletName {
		if wrong := walletdir.CheckName(t.name); wrong != "" {
			return nil, message(wrong)
		}
	}
	if wrong := walletdir.CheckPath(all, t.name); wrong != "" {
		return nil, message(wrong)
	}
	t.dir = walletdir.Join(all, t.name)
	return t, nil
}

// networkOf returns the network that the settings select.
func networkOf(s *options.Settings) (*dialect.Network, error) {
	c, err := choices(s)
	if err != nil {
		return nil, err
	}
	if given := s.Strings("signetchallenge"); len(given) > 0 && s.Chain() == options.Signet {
		if len(given) > 1 {
			return nil, failf("-signetchallenge cannot be multiple values.")
		}
		script, err := hex.DecodeString(given[0])
		if err != nil || len(script) == 0 {
			return nil, failf("-signetchallenge must be hex, not '%s'.", given[0])
		}
		c.SignetChallenge = script
	}
	c.AnyOutput = s.Chain() == options.Regtest && !s.Bool("p2mronly", true)
	return dialect.Named(s.Dialect(), string(s.Chain()), c)
}

// choices reads -core. The node's options say the same.
func choices(s *options.Settings) (c dialect.Choices, err error) {
	if !s.IsSet("core") {
		return c, nil
	}
	text := s.String("core", "")
	c.Reference, err = strconv.Atoi(text)
	if err != nil || !slices.Contains(dialect.References(), c.Reference) {
		return c, failf("Invalid value for -core: '%s'. It is 30 or 32.", text)
	}
	return c, nil
}

func (t *tool) params() wallet.Params { return wallet.ParamsOf(t.net, t.name, keyPool) }

func (t *tool) fileOptions() walletdb.Options {
	return walletdb.Options{Magic: t.net.Magic, Client: t.client, SetAside: func(from, to string) {
		fmt.Fprintf(t.stderr, "Warning: %s, which another wallet left, was renamed to %s\n", from, to)
	}}
}

// checkFree refuses to make a wallet where there is one.
func (t *tool) checkFree() error {
	_, legacy := walletdb.LegacyIn(t.dir)
	format, err := walletdb.FormatOf(walletdir.File(t.dir), t.net.Magic)
	if legacy || err == nil && format == walletdb.SQLite {
		return t.taken()
	}
	return nil
}

func (t *tool) taken() error {
	return failf("Failed to create database path '%s'. Database already exists.", t.dir)
}

// make makes the wallet's file of the records that fill writes. Nothing is left of a failure.
func (t *tool) make(fill func(*walletdb.Batch) error) error {
	made, err := walletdir.Make(t.dir)
	if err != nil {
		return failf("Failed to create database path '%s': %v", t.dir, err)
	}
	db, err := walletdb.Create(walletdir.File(t.dir), t.fileOptions(), fill)
	if err == nil {
		return db.Close()
	}
	if errors.Is(err, walletdb.ErrExists) {
		err = t.taken()
	}
	_ = made.Remove() // it stays if something else came into it
	return err
}

// absolute returns the whole path of a file as Core shows it: nothing of it is cleaned up.
func absolute(path string) (string, error) {
	if filepath.IsAbs(path) {
		return path, nil
	}
	here, err := filepath.Abs(".")
	return here + string(filepath.Separator) + path, err
}
