package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

const (
	userID   = "10001"
	owner    = 10001
	stateDir = "/var/lib/trawl"
	zones    = "/usr/share/zoneinfo.zip"
	terms    = "usr/share/doc/trawl/"
)

// entry is a file of an image, or a folder where it has no text.
type entry struct {
	name  string
	mode  int64
	owner int
	text  []byte
}

// layer is all that is in an image.
func layer(programs string, at time.Time) (v1.Layer, error) {
	entries, err := contents(programs)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	t := tar.NewWriter(&text)
	for _, e := range entries {
		header := &tar.Header{
			Name: e.name, Mode: e.mode, Uid: e.owner, Gid: e.owner, Size: int64(len(e.text)), ModTime: at,
			Typeflag: tar.TypeReg, Format: tar.FormatUSTAR,
		}
		if e.text == nil {
			header.Typeflag = tar.TypeDir
		}
		if err := t.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := t.Write(e.text); err != nil {
			return nil, err
		}
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(text.Bytes())), nil
	})
}

func contents(programs string) ([]entry, error) {
	zoneinfo, err := os.ReadFile(filepath.Join(runtime.GOROOT(), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		return nil, err
	}
	user := "trawl:x:" + userID + ":" + userID + "::" + stateDir + ":/nonexistent\n"
	list := []entry{
		{"etc/", 0o755, 0, nil},
		{"etc/passwd", 0o644, 0, []byte("root:x:0:0::/:/nonexistent\n" + user)},
		{"etc/group", 0o644, 0, []byte("root:x:0:\ntrawl:x:" + userID + ":\n")},
		{"etc/ssl/", 0o755, 0, nil},
		{"etc/ssl/certs/", 0o755, 0, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, 0, certificates()},
		{"tmp/", 0o1777, 0, nil},
		{"usr/", 0o755, 0, nil},
		{"usr/bin/", 0o755, 0, nil},
		{"usr/share/", 0o755, 0, nil},
		{"usr/share/doc/", 0o755, 0, nil},
		{terms, 0o755, 0, nil},
		{zones[1:], 0o644, 0, zoneinfo},
		{"var/", 0o755, 0, nil},
		{"var/lib/", 0o755, 0, nil},
		{stateDir[1:] + "/", 0o700, owner, nil},
	}
	for _, f := range []struct {
		folder string
		mode   int64
		names  []string
	}{
		{"usr/bin/", 0o755, []string{"trawld", "trawl-cli", "trawl-wallet", "trawl-load"}},
		{terms, 0o644, []string{"LICENSE", "THIRD-PARTY-LICENCES"}},
	} {
		for _, name := range f.names {
			text, err := os.ReadFile(filepath.Join(programs, name))
			if err != nil {
				return nil, err
			}
			list = append(list, entry{f.folder + name, f.mode, 0, text})
		}
	}
	return list, nil
}

// certificates are the roots that Mozilla trusts without limits.
func certificates() []byte {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // to memory
		}
	}
	return text.Bytes()
}

// archive packs a folder into a tar, in the order of names.
func archive(path, dir string, at time.Time) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	t := tar.NewWriter(file)
	err = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		relative, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		header := &tar.Header{Name: filepath.ToSlash(relative), Mode: 0o644, ModTime: at, Format: tar.FormatUSTAR}
		if e.IsDir() {
			header.Name, header.Mode, header.Typeflag = header.Name+"/", 0o755, tar.TypeDir
			return t.WriteHeader(header)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		header.Typeflag, header.Size = tar.TypeReg, int64(len(text))
		if err := t.WriteHeader(header); err != nil {
			return err
		}
		_, err = t.Write(text)
		return err
	})
	return errors.Join(err, t.Close())
}
