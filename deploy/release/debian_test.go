package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A clean Debian in a folder.
type debianRoot struct {
	t   *testing.T
	dir string
}

func newDebian(t *testing.T) *debianRoot {
	t.Helper()
	r := &debianRoot{t, filepath.Join(t.TempDir(), "root")}
	command(t, ".", nil, "debootstrap", "--variant=minbase", "--include=adduser,logrotate", "bookworm", r.dir)
	return r
}

func (r *debianRoot) run(name string, args ...string) string {
	r.t.Helper()
	return command(r.t, ".", []string{"DEBIAN_FRONTEND=noninteractive", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
		"chroot", append([]string{r.dir, name}, args...)...)
}

// install puts a package in, over an older version of it where there is one.
func (r *debianRoot) install(deb string) {
	r.t.Helper()
	text, err := os.ReadFile(deb)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "trawl.deb"), text, 0o644); err != nil {
		r.t.Fatal(err)
	}
	r.run("dpkg", "--install", "/trawl.deb")
}

func (r *debianRoot) exists(path string) bool {
	_, err := os.Lstat(filepath.Join(r.dir, path))
	return err == nil
}

var execStart = regexp.MustCompile(`(?m)^ExecStart=(.*)$`)

// start starts what the unit starts, as its user, and waits until it says that it is ready.
// The function it returns stops it as systemd does.
func (r *debianRoot) start() (stop func()) {
	r.t.Helper()
	unit, err := os.ReadFile(filepath.Join(r.dir, "lib/systemd/system/trawld.service"))
	if err != nil {
		r.t.Fatal(err)
	}
	socket := filepath.Join(r.dir, "run/notify")
	_ = os.Remove(socket)
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { conn.Close() })
	if err := os.Chmod(socket, 0o666); err != nil {
		r.t.Fatal(err)
	}
	args := []string{"--reuid=trawl", "--regid=trawl", "--clear-groups", "--no-new-privs"}
	args = append(args, strings.Fields(execStart.FindStringSubmatch(string(unit))[1])...)
	cmd := exec.CommandContext(context.Background(), "chroot", append([]string{r.dir, "setpriv"}, args...)...)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=/var/lib/trawl", "NOTIFY_SOCKET=/run/notify", "WATCHDOG_USEC=2000000"}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	r.t.Cleanup(func() { _ = cmd.Process.Kill() })
	r.hear(conn, "READY=1", &out)
	r.hear(conn, "WATCHDOG=1", &out)
	return func() {
		r.t.Helper()
		_ = cmd.Process.Signal(syscall.SIGTERM)
		r.hear(conn, "STOPPING=1", &out)
		if err := <-ended; err != nil {
			r.t.Errorf("the service ends with %v\n%s", err, out.String())
		}
	}
}

func (r *debianRoot) hear(conn *net.UnixConn, want string, out *bytes.Buffer) {
	r.t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		r.t.Fatal(err)
	}
	for text := make([]byte, 1000); ; {
		n, err := conn.Read(text)
		if err != nil {
			r.t.Fatalf("%s did not come: %v\n%s", want, err, out.String())
		}
		if strings.HasPrefix(string(text[:n]), want) {
			return
		}
	}
}

func (r *debianRoot) call(args ...string) string {
	r.t.Helper()
	base := []string{
		"--reuid=trawl", "--regid=trawl", "--clear-groups",
		"trawl-cli", "-conf=/etc/trawl/trawl.conf", "-datadir=/var/lib/trawl",
	}
	return r.run("setpriv", append(base, args...)...)
}

// The package is installed, started, upgraded, removed and purged in a clean Debian. Wallets
// outlive all these steps. Neither a configuration that the administrator has removed nor a
// service that does not start stands in the way.
func TestDebianPackage(t *testing.T) {
	packagesOnly(t)
	older := filepath.Join(released(t, "0.1.0-rc.1"), "trawl_0.1.0~rc.1_amd64.deb")
	newer := filepath.Join(released(t, "0.1.0"), "trawl_0.1.0_amd64.deb")
	r := newDebian(t)
	r.install(older)
	wantMode(t, r.dir, "/var/lib/trawl", 0o750)
	wantMode(t, r.dir, "/etc/trawl/trawl.conf", 0o640)
	for _, path := range []string{
		"/usr/bin/trawld", "/usr/bin/trawld-qbit", "/etc/logrotate.d/trawl", "/usr/share/man/man1/trawld.1.gz",
		"/usr/share/man/man5/trawl.conf.5.gz", "/usr/share/bash-completion/completions/trawld",
		"/usr/share/zsh/vendor-completions/_trawl-cli", "/usr/share/fish/vendor_completions.d/trawl-cli.fish",
		"/usr/share/fish/vendor_completions.d/trawld-qbit.fish", "/usr/share/man/man1/trawld-qbit.1.gz",
		"/usr/share/doc/trawl/docs/guides/operating.md", "/usr/share/doc/trawl/deploy/grafana/trawl.json",
	} {
		if !r.exists(path) {
			t.Errorf("%s is missing", path)
		}
	}
	r.run("logrotate", "--debug", "/etc/logrotate.d/trawl")
	conf := filepath.Join(r.dir, "etc/trawl/trawl.conf")
	mine := "daemon=1\nregtest=1\nblockfilterindex=1\n[regtest]\nlisten=0\nrpcport=" + freePort(t) + "\n"
	if err := os.WriteFile(conf, []byte(mine), 0o640); err != nil {
		t.Fatal(err)
	}

	stop := r.start()
	r.call("createwallet", "money")
	address := strings.TrimSpace(r.call("-rpcwallet=money", "getnewaddress"))
	r.call("generatetoaddress", "3", address)
	stop()

	r.install(newer)
	if text, err := os.ReadFile(conf); err != nil || string(text) != mine {
		t.Errorf("the upgrade changed the configuration: %q, %v", text, err)
	}
	if got := r.run("trawld", "-version"); !strings.HasPrefix(got, "Trawl daemon version 0.1.0-") {
		t.Errorf("after the upgrade: %s", got)
	}
	stop = r.start()
	if got := strings.TrimSpace(r.call("getblockcount")); got != "3" {
		t.Errorf("after the upgrade the height is %s", got)
	}
	r.call("loadwallet", "money")
	stop()

	if err := os.Remove(conf); err != nil {
		t.Fatal(err)
	}
	r.failingSystemd()
	r.install(older)
	r.install(newer)
	if r.exists("/etc/trawl/trawl.conf") {
		t.Error("a configuration that was removed came back")
	}
	r.run("dpkg", "--remove", "trawl")
	r.run("dpkg", "--install", "--force-confmiss", "/trawl.deb")
	for _, want := range []string{"--no-block try-restart trawld.service", "stop trawld.service", "disable trawld.service"} {
		if text := r.run("cat", "/run/systemctl"); !strings.Contains(text, want+"\n") {
			t.Errorf("%q is not among\n%s", want, text)
		}
	}

	wallet := "/var/lib/trawl/regtest/wallets/money/wallet.dat"
	for _, step := range []string{"--remove", "--purge"} {
		r.run("dpkg", step, "trawl")
		if !r.exists(wallet) || r.exists("/usr/bin/trawld") {
			t.Errorf("after %s: wallet %v, program %v", step, r.exists(wallet), r.exists("/usr/bin/trawld"))
		}
		if kept := r.exists("/etc/trawl/trawl.conf"); kept != (step == "--remove") {
			t.Errorf("after %s the configuration is there: %v", step, kept)
		}
	}
	if r.exists("/var/log/trawl") {
		t.Error("the logs outlive the purge")
	}
}

// failingSystemd has systemd seem to run, where each call of it fails and is written down.
func (r *debianRoot) failingSystemd() {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Join(r.dir, "run/systemd/system"), 0o755); err != nil {
		r.t.Fatal(err)
	}
	const script = "#!/bin/sh\necho \"$*\" >>/run/systemctl\nexit 1\n"
	if err := os.WriteFile(filepath.Join(r.dir, "usr/bin/systemctl"), []byte(script), 0o755); err != nil {
		r.t.Fatal(err)
	}
}

func wantMode(t *testing.T, root, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Stat(filepath.Join(root, path))
	if err != nil || info.Mode().Perm() != want {
		t.Errorf("%s: %v, %v", path, info, err)
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := strings.Cut(l.Addr().String(), ":")
	return port
}

// systemd finds the unit sound, and not exposed.
func TestUnit(t *testing.T) {
	packagesOnly(t)
	unit, err := os.ReadFile("../debian/trawld.service")
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("true")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "trawld.service")
	text := strings.ReplaceAll(string(unit), "/usr/bin/trawld", program) // which need not be installed here
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out := command(t, ".", nil, "systemd-analyze", "verify", "--man=no", path)
	if strings.Contains(out, "trawld.service") {
		t.Error(out)
	}
	command(t, ".", nil, "systemd-analyze", "security", "--offline=yes", "--threshold=30", path)
}
