package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/actors/cluster/link"
	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/vfs"
)

const (
	defaultAudit = "0.5" // percent
	maxSecrets   = 2
	maxFileSize  = 1 << 20 // of a certificate
)

// maxThreads bounds -clusterthreads; no machine has so many cores.
const maxThreads = 1 << 12

// clusterConfig reads with which other nodes this one scans together; nil without
// -clusterlisten. Nothing is listened to yet.
func (s *session) clusterConfig(index bool) (*trawl.ClusterConfig, error) {
	o := s.settings
	listen := o.String("clusterlisten", "")
	if listen == "" {
		if len(o.Strings("clusternode")) > 0 {
			return nil, refuse("-clusternode needs -clusterlisten: members answer there")
		}
		return nil, nil
	}
	if !index {
		return nil, refuse("-clusterlisten needs -blockfilterindex")
	}
	for _, node := range o.Strings("clusternode") {
		if host, port, ok := options.SplitHostPort(node); !ok || host == "" || port == 0 {
			return nil, refuse("-clusternode=%s is not host:port", node)
		}
	}
	credentials, err := s.clusterCredentials()
	if err != nil {
		return nil, err
	}
	l, err := link.New(link.Config{
		Listen: listen, Advertise: o.String("clusteradvertise", ""), Credentials: credentials,
		Log: s.log.With("category", "net"),
	})
	if err != nil {
		return nil, refuse("-clusterlisten: %v", err)
	}
	audit, err := strconv.ParseFloat(o.String("clusteraudit", defaultAudit), 64)
	if err != nil || !(audit >= 0 && audit <= 100) {
		return nil, refuse("-clusteraudit is a part in percent, from 0 to 100")
	}
	memory := int64(atLeastOne(o.Int("clustermem", 1<<10)))
	return &trawl.ClusterConfig{
		Link: l, Nodes: o.Strings("clusternode"), Serve: o.Bool("clusterserve", true),
		Local: o.Bool("clusterlocal", true), Memory: memory << 20, Audit: audit / 100,
		After:   time.Duration(max(o.Int("clusterafter", 0), 0)) * time.Millisecond,
		Threads: int(min(max(o.Int("clusterthreads", 0), 0), maxThreads)),
	}, nil
}

// clusterCredentials reads the secrets of the cluster, or the certificates of its authority.
func (s *session) clusterCredentials() (*link.Credentials, error) {
	o := s.settings
	secrets := o.Strings("clustersecret")
	ca, cert, key := o.String("clusterca", ""), o.String("clustercert", ""), o.String("clusterkey", "")
	certificates := ca != "" || cert != "" || key != ""
	switch {
	case len(secrets) == 0 && !certificates:
		return nil, refuse("-clusterlisten needs -clustersecret, or -clusterca with -clustercert and -clusterkey")
	case len(secrets) > 0 && certificates:
		return nil, refuse("-clustersecret and -clusterca cannot be used together")
	case certificates && (ca == "" || cert == "" || key == ""):
		return nil, refuse("-clusterca, -clustercert and -clusterkey need each other")
	case len(secrets) > maxSecrets:
		return nil, refuse("-clustersecret can be given twice at most")
	}
	if certificates {
		var content [3][]byte
		for i, path := range []string{ca, cert, key} {
			text, err := s.clusterFile(path, i == 2)
			if err != nil {
				return nil, err
			}
			content[i] = text
		}
		c, err := link.FromPEM(content[0], content[1], content[2])
		if err != nil {
			return nil, refuse("-clusterca, -clustercert, -clusterkey: %v", err)
		}
		return c, nil
	}
	list := make([][]byte, len(secrets))
	for i, path := range secrets {
		secret, err := s.clusterSecret(path)
		if err != nil {
			return nil, err
		}
		list[i] = secret
	}
	c, err := link.FromSecrets(list...)
	if err != nil {
		return nil, refuse("-clustersecret: %v", err)
	}
	return c, nil
}

// clusterSecret reads a secret, and makes the file where there is none.
func (s *session) clusterSecret(path string) ([]byte, error) {
	text, err := s.clusterFile(path, true)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeSecret(s.clusterPath(path)); err != nil {
			return nil, refuse("Unable to make -clustersecret=%s: %v", path, err)
		}
		text, err = s.clusterFile(path, true)
	}
	if err != nil {
		return nil, err
	}
	secret, err := link.ParseSecret(string(text))
	if err != nil {
		return nil, refuse("-clustersecret=%s: %v", path, err)
	}
	return secret, nil
}

func (s *session) clusterPath(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.netDir, path)
}

// clusterFile reads a file. It refuses a private file to which others than its owner have access,
// except credentials.
func (s *session) clusterFile(path string, private bool) ([]byte, error) {
	full := s.clusterPath(path)
	info, err := os.Stat(full)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s for the cluster: %w", path, err)
	case private && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 && !isCredential(full):
		return nil, refuse("%s can be read by others than its owner: chmod 600", path)
	}
	text, err := vfs.ReadFile(vfs.OS, full, maxFileSize)
	if errors.Is(err, vfs.ErrNotRegular) || errors.Is(err, vfs.ErrTooLarge) {
		return nil, refuse("%s is not a file for the cluster", path)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s for the cluster: %w", path, err)
	}
	return text, nil
}

// isCredential reports whether the service manager has given a file to this service alone
// (LoadCredential of systemd). The right to read such a file may be in an access list, which shows as a
// group's right.
func isCredential(path string) bool {
	dir := os.Getenv("CREDENTIALS_DIRECTORY")
	return dir != "" && filepath.Dir(path) == filepath.Clean(dir)
}

// makeSecret makes a file with a new secret, unless there is one.
func makeSecret(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the operator names it
	if err != nil {
		return err
	}
	var secret [link.SecretSize]byte
	_, _ = rand.Read(secret[:]) // it never fails
	_, err = f.WriteString(hex.EncodeToString(secret[:]) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(path) // the next start would read a part of it
	}
	return err
}
