package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
)

// debian makes the Debian package of a platform. Its version sorts a release candidate before the release.
func (b *build) debian(p platform, files []file) error {
	stage := filepath.Join(b.work, "debian", p.arch)
	for _, f := range files {
		text := f.text
		if path, ok := strings.CutPrefix(f.name, "man/"); ok { // Debian has its manual pages packed
			f.name = "man/" + path + ".gz"
			var err error
			if text, err = zipped(text); err != nil {
				return err
			}
		}
		if err := b.write(filepath.Join(stage, f.name), f.mode, text); err != nil {
			return err
		}
	}
	for _, name := range []string{"debian/postinst", "debian/prerm", "debian/postrm", "debian/nfpm.yaml"} {
		text, err := os.ReadFile(filepath.Join(b.source, "deploy", name))
		if err != nil {
			return err
		}
		text = []byte(strings.NewReplacer(
			"@STAGE@", stage, "@ARCH@", p.arch, "@VERSION@", strings.Replace(b.version, "-", "~", 1),
			"@MTIME@", b.time.Format("2006-01-02T15:04:05Z"),
		).Replace(string(text)))
		if err := b.write(filepath.Join(stage, name), 0o755, text); err != nil {
			return err
		}
	}
	_, err := b.goCommand(
		p, "tool", "-modfile=tools.mod", "nfpm", "package", "--packager=deb",
		"--config="+filepath.Join(stage, "debian/nfpm.yaml"), "--target="+b.out+"/",
	)
	return err
}

// write writes a file of the revision's time.
func (b *build) write(path string, mode int64, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, text, os.FileMode(mode)); err != nil {
		return err
	}
	if err := os.Chmod(path, os.FileMode(mode)); err != nil { // whatever the umask is
		return err
	}
	return os.Chtimes(path, b.time, b.time)
}

// zipped packs a text, without its name and time.
func zipped(text []byte) ([]byte, error) {
	var packed bytes.Buffer
	zip, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := zip.Write(text); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}
