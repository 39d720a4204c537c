package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/seed61375155/trawl/internal/options"
)

const (
	dirMode  = 0o700
	lockName = ".lock"
)

// makeDirs makes the folders of a session, in Core's layout:
//
//	<datadir>/[<network>/]{chainstate,indexes,wallets}
//	<blocksdir>/[<network>/]blocks
//
// Like Core it makes the folder wallets only together with the one it lies in,
// so that wallets of an old layout are still found. It returns the folder of
// the blocks.
func makeDirs(s *options.Settings) (blocks string, err error) {
	blocksBase := s.DataDir()
	if dir := s.Path("blocksdir", ""); dir != "" {
		if blocksBase, err = filepath.Abs(dir); err != nil {
			return "", err
		}
		if !(options.OS{}).IsDir(blocksBase) {
			return "", refuse("Specified blocks directory \"%s\" does not exist.", s.String("blocksdir", ""))
		}
	}
	for _, dir := range []string{s.DataDir(), s.NetDir()} {
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			if err := os.MkdirAll(filepath.Join(dir, "wallets"), dirMode); err != nil {
				return "", err
			}
		}
	}
	blocks = filepath.Join(blocksBase, s.Chain().Dir(), "blocks")
	for _, dir := range []string{blocks, filepath.Join(s.NetDir(), "chainstate"), filepath.Join(s.NetDir(), "indexes")} {
		if err := os.MkdirAll(dir, dirMode); err != nil {
			return "", err
		}
	}
	return blocks, nil
}

// lockDirs locks folders against another daemon. The files it returns hold the
// locks until they are closed, or the process ends in whatever way.
func lockDirs(dirs ...string) ([]*os.File, error) {
	var held []*os.File
	for _, dir := range dirs {
		file, err := lockDir(dir)
		if err != nil {
			return nil, errors.Join(err, closeAll(held))
		}
		held = append(held, file)
	}
	return held, nil
}

func lockDir(dir string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // our own folder
	if err != nil {
		return nil, refuse("Cannot write to directory '%s'; check permissions.", dir)
	}
	if err := lockFile(file); err != nil {
		return nil, errors.Join(refuse("Cannot obtain a lock on directory %s. Bitcoin Core is probably already running.", dir), file.Close())
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
