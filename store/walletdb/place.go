package walletdb

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// markName is the name of the mark in the wallet's directory. It holds the
// fingerprint of the backup.
const markName = "." + FileName + ".restoring"

func markOf(dir string) string { return filepath.Join(dir, markName) }

// Mark notes beside a file that is being restored the fingerprint of its backup.
func Mark(dir, sum string) error {
	return vfs.ReplaceFile(vfs.OS, markOf(dir), []byte(sum+"\n"), 0o600)
}

// IsMarked reports whether the file in a directory was being restored from a backup.
func IsMarked(dir, backup string) bool {
	mark, err := os.ReadFile(markOf(dir))
	if err != nil {
		return false
	}
	sum, err := Fingerprint(backup)
	return err == nil && sum == strings.TrimSpace(string(mark))
}

// Unmark takes the mark away, if there is one.
func Unmark(dir string) error {
	if err := os.Remove(markOf(dir)); err != nil && !Missing(err) {
		return err
	}
	return nil
}

// Sum returns the SHA-256 of a file in hex.
func Sum(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// Discard deletes a wallet's file that is not to be, and the journal that may be beside
// it. The file goes first: without its journal it might be half of a change.
func Discard(path string) error {
	err := os.Remove(path)
	if journal := os.Remove(path + "-journal"); !Missing(journal) {
		err = errors.Join(err, journal)
	}
	return err
}

// Missing reports whether an error says that there is nothing at a path. Names
// that no file can have count too.
func Missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EINVAL)
}

// Warnings tell how the copy of a backup was made whole.
func (r Recovery) Warnings() (texts []string) {
	if r.Others {
		texts = append(texts, "A journal or write-ahead log beside the backup belongs to another file and was left "+
			"out.")
	}
	if r.Journal {
		texts = append(texts, "The backup is a copy of a wallet in use: an interrupted change was rolled back by the "+
			"journal beside the file.")
	}
	if r.Log {
		texts = append(texts, "The backup is a copy of a wallet in use: changes were taken over from the write-ahead "+
			"log beside the file.")
	}
	return texts
}

// Fill returns what writes records.
func Fill(records []walletfile.Record) func(*Batch) error {
	return func(b *Batch) error {
		for _, r := range records {
			if err := b.Put(r); err != nil {
				return err
			}
		}
		return nil
	}
}
