package main

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/options/table"
)

// clusterSession returns a session with some options, whose network folder is dir.
func clusterSession(t *testing.T, dir string, args ...string) *session {
	t.Helper()
	o := options.New(table.Daemon(), dir)
	if err := o.ParseArgs(args); err != nil {
		t.Fatal(err)
	}
	return &session{settings: o, netDir: dir, log: slog.New(slog.DiscardHandler)}
}

// Nothing listens without credentials, and no file that others can read is one.
func TestClusterRefusals(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode fs.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	const good = "8f1d4c0a7be52396d0e1b3a45c6f78290d9e6a1b57c3f4e28a70b5d91c3e4f66"
	write("good", " "+good+"\n", 0o600)
	write("open", good, 0o640)
	write("short", good[2:], 0o600)
	write("empty", "", 0o600)
	write("cert", "no certificate", 0o600)
	write("zeros", strings.Repeat("0", 64), 0o600)
	write("huge", good, 0o600)
	if err := os.Truncate(filepath.Join(dir, "huge"), 1<<40); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	const listen = "-clusterlisten=127.0.0.1:0"
	for _, test := range []struct{ args, why string }{
		{"-clusternode=a:1", "needs -clusterlisten"},
		{listen, "needs -clustersecret"},
		{listen + " -clustersecret=open", "read by others"},
		{listen + " -clustersecret=short", "64 hexadecimal digits"},
		{listen + " -clustersecret=empty", "64 hexadecimal digits"},
		{listen + " -clustersecret=.", "not a file"},
		{listen + " -clustersecret=zeros", "can be guessed"},
		{listen + " -clustersecret=pipe", "not a file"},
		{listen + " -clustersecret=huge", "not a file"},
		{listen + " -clustersecret=/dev/zero", "not a file"},
		{listen + " -clusterca=pipe -clustercert=cert -clusterkey=cert", "not a file"},
		{listen + " -clusterca=cert -clustercert=cert -clusterkey=pipe", "not a file"},
		{listen + " -clustersecret=none/here", "Unable to make"},
		{listen + " -clustersecret=good -clustersecret=good -clustersecret=good", "twice"},
		{listen + " -clustersecret=good -clusterca=cert", "together"},
		{listen + " -clusterca=cert", "need each other"},
		{listen + " -clustercert=cert -clusterkey=cert", "need each other"},
		{listen + " -clusterca=cert -clustercert=cert -clusterkey=cert", "authority"},
		{listen + " -clusterca=cert -clustercert=cert -clusterkey=open", "read by others"},
		{listen + " -clustersecret=good -clusternode=a:1 -clusternode=10.0.0.2", "-clusternode=10.0.0.2 is not host:port"},
		{listen + " -clustersecret=good -clusternode=:8340", "not host:port"},
		{listen + " -clustersecret=good -clusternode=a:0", "not host:port"},
		{listen + " -clustersecret=good -clusternode=::1:8340", "not host:port"},
		{listen + " -clustersecret=good -clusteraudit=101", "percent"},
		{listen + " -clustersecret=good -clusteraudit=x", "percent"},
		{"-clusterlisten=0.0.0.0:1 -clustersecret=good", "0.0.0.0:1"},
	} {
		_, err := clusterSession(t, dir, strings.Fields(test.args)...).clusterConfig(true)
		if err == nil || !strings.Contains(err.Error(), test.why) || strings.Contains(err.Error(), good[2:]) {
			t.Errorf("%s: %v", test.args, err)
		}
	}
	if _, err := clusterSession(t, dir, listen, "-clustersecret=good").clusterConfig(false); err == nil {
		t.Error("a cluster without filters")
	}
	t.Setenv("CREDENTIALS_DIRECTORY", dir+"/none")
	if _, err := clusterSession(t, dir, listen, "-clustersecret=open").clusterConfig(true); err == nil {
		t.Error("a secret that others can read, beside the credentials")
	}
	t.Setenv("CREDENTIALS_DIRECTORY", dir+"/")
	if _, err := clusterSession(t, dir, listen, "-clustersecret=open").clusterConfig(true); err != nil {
		t.Errorf("a credential of the service manager: %v", err)
	}
	if c, err := clusterSession(t, dir).clusterConfig(true); c != nil || err != nil {
		t.Error(c, err)
	}
	given := []string{listen, "-clustersecret=good", "-clustermem=7", "-clusteraudit=50", "-clusterthreads=3"}
	c, err := clusterSession(t, dir, given...).clusterConfig(true)
	if err != nil || c.Memory != 7<<20 || c.Audit != 0.5 || !c.Serve || !c.Local || c.Threads != 3 {
		t.Errorf("%+v, %v", c, err)
	}
	given[4] = "-clusterthreads=-1"
	if c, err := clusterSession(t, dir, given...).clusterConfig(true); err != nil || c.Threads != 0 {
		t.Errorf("%+v, %v", c, err)
	}
}

// A secret is made where there is none, for its owner alone, and is the same afterwards.
func TestClusterSecretIsMade(t *testing.T) {
	dir := t.TempDir()
	s := clusterSession(t, dir)
	made, err := s.clusterSecret("new")
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "new"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	again, err := s.clusterSecret(filepath.Join(dir, "new"))
	if err != nil || string(again) != string(made) {
		t.Error("another secret")
	}
	if other, err := s.clusterSecret("other"); err != nil || string(other) == string(made) {
		t.Error("the same secret twice", err)
	}
}
