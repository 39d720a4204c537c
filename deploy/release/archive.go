package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A file is one of an archive.
type file struct {
	name string // with slashes
	mode int64
	text []byte
}

// archive writes files, below a folder of a name, into a tar.gz whose bytes depend on
// nothing else.
func (b *build) archive(path, folder string, files []file) error {
	var packed bytes.Buffer
	zip, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(zip)
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	for _, f := range files {
		header := &tar.Header{
			Name: folder + "/" + f.name, Mode: f.mode, Size: int64(len(f.text)), ModTime: b.time, Typeflag: tar.TypeReg,
			Format: tar.FormatUSTAR,
		}
		if err := t.WriteHeader(header); err != nil {
			return err
		}
		if _, err := t.Write(f.text); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	if err := zip.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, packed.Bytes(), 0o644)
}

// sums writes SHA256SUMS over all files of the release.
func (b *build) sums() error {
	entries, err := os.ReadDir(b.out) // in order
	if err != nil {
		return err
	}
	var list bytes.Buffer
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(b.out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(text), e.Name())
	}
	return os.WriteFile(filepath.Join(b.out, "SHA256SUMS"), list.Bytes(), 0o644)
}
