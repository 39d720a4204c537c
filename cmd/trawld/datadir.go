package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/internal/options"
)

const (
	dirMode  = 0o700
	lockName = ".lock"
)

// checkDirs refuses directories with data of another program, before anything is
// written there.
func checkDirs(s *options.Settings, blocks string) error {
	cfg := trawl.Config{Dir: s.NetDir(), BlocksDir: blocks, Chain: string(s.Chain()), Dialect: s.Dialect()}
	var err error
	if cfg.SignetChallenge, err = signetChallenge(s); err != nil {
		return err
	}
	return trawl.CheckDirs(cfg)
}

// blocksDir returns the folder of the block files, <blocksdir>/[<network>/]blocks.
func blocksDir(s *options.Settings) (string, error) {
	base := s.DataDir()
	if dir := s.Path("blocksdir", ""); dir != "" {
		var err error
		if base, err = filepath.Abs(dir); err != nil {
			return "", err
		}
		if !(options.OS{}).IsDir(base) {
			return "", refuse("Specified blocks directory \"%s\" does not exist.", s.String("blocksdir", ""))
		}
	}
	return filepath.Join(base, s.Chain().Dir(), "blocks"), nil
}

// makeDirs makes the folders of a session. Like Core it makes the folder wallets
// only together with its parent folder, so that wallets of an old layout are still
// found. The layout is Core's:
//
//	<datadir>/[<network>/]{chainstate,indexes,wallets}
//	<blocksdir>/[<network>/]blocks
func makeDirs(s *options.Settings, blocks string) error {
	for _, dir := range []string{s.DataDir(), s.NetDir()} {
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			if err := os.MkdirAll(filepath.Join(dir, "wallets"), dirMode); err != nil {
				return err
			}
		}
	}
	for _, dir := range []string{
		blocks, filepath.Join(s.NetDir(), "chainstate"), filepath.Join(s.NetDir(), "indexes"),
	} {
		if err := os.MkdirAll(dir, dirMode); err != nil {
			return err
		}
	}
	return nil
}

// lockDirs locks folders against another daemon. The files it returns hold the
// locks until they are closed, or the process ends in whatever way.
func lockDirs(client string, dirs ...string) ([]*os.File, error) {
	var held []*os.File
	for _, dir := range dirs {
		file, err := lockDir(client, dir)
		if err != nil {
			return nil, errors.Join(err, closeAll(held))
		}
		held = append(held, file)
	}
	return held, nil
}

func lockDir(client, dir string) (*os.File, error) {
	path := filepath.Join(dir, lockName)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // our own folder
	if err != nil {
		return nil, refuse("Cannot write to directory '%s'; check permissions.", dir)
	}
	if err := lockFile(file); err != nil {
		return nil, errors.Join(refuse(
			"Cannot obtain a lock on directory %s. %s is probably already running.", dir, client,
		), file.Close())
	}
	return file, nil
}

func closeAll(files []*os.File) error {
	var errs []error
	for _, file := range files {
		errs = append(errs, file.Close())
	}
	return errors.Join(errs...)
}
