package main

import (
	"archive/tar"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// imageConfig is what an image says of how it is run.
type imageConfig struct {
	Architecture string
	Config       struct {
		User, StopSignal string
		Env, Entrypoint  []string
		Volumes          map[string]struct{}
		Healthcheck      struct{ Test []string }
	}
}

// unpackImage puts the one image of an archive into a folder.
func unpackImage(t *testing.T, archive string) (root string, config imageConfig) {
	t.Helper()
	text, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	eachFile(t, text, func(h *tar.Header, content []byte) { files[h.Name] = content })
	blob := func(digest string) []byte {
		content, ok := files["blobs/"+strings.Replace(digest, ":", "/", 1)]
		if !ok {
			t.Fatalf("no %s in the archive", digest)
		}
		return content
	}
	type descriptor struct{ Digest string }
	var index struct{ Manifests []descriptor }
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	read(t, files["index.json"], &index)
	if len(index.Manifests) != 1 || !strings.Contains(string(files["oci-layout"]), "1.0.0") {
		t.Fatalf("got index %s, layout %s", files["index.json"], files["oci-layout"])
	}
	read(t, blob(index.Manifests[0].Digest), &manifest)
	read(t, blob(manifest.Config.Digest), &config)
	var docker []struct{ Config string } // how docker load finds the same
	read(t, files["manifest.json"], &docker)
	if len(docker) != 1 || docker[0].Config != "blobs/"+strings.Replace(manifest.Config.Digest, ":", "/", 1) {
		t.Errorf("got %s", files["manifest.json"])
	}
	root = t.TempDir()
	for _, layer := range manifest.Layers {
		eachFile(t, blob(layer.Digest), func(h *tar.Header, content []byte) { place(t, root, h, content) })
	}
	return root, config
}

func read(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}

func place(t *testing.T, root string, h *tar.Header, content []byte) {
	t.Helper()
	path := filepath.Join(root, h.Name)
	var err error
	if h.Typeflag == tar.TypeDir {
		err = os.Mkdir(path, 0o755)
	} else {
		err = os.WriteFile(path, content, 0o600)
	}
	if err == nil {
		err = os.Chown(path, h.Uid, h.Gid)
	}
	if err == nil {
		err = os.Chmod(path, os.FileMode(h.Mode&0o777))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The image runs as its user on a root that is read only, is healthy by its own check, and
// stops by its signal.
func TestImage(t *testing.T) {
	packagesOnly(t)
	root, config := unpackImage(t, filepath.Join(released(t, "0.1.0"), "trawl-0.1.0-oci-amd64.tar"))
	c := config.Config
	if config.Architecture != "amd64" || c.User != "10001:10001" || c.StopSignal != "SIGTERM" {
		t.Errorf("got %+v", config)
	}
	if _, ok := c.Volumes["/var/lib/trawl"]; !ok || len(c.Healthcheck.Test) < 2 || c.Healthcheck.Test[0] != "CMD" {
		t.Errorf("got %+v", config)
	}
	if text, err := os.ReadFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt")); err != nil ||
		strings.Count(string(text), "BEGIN CERTIFICATE") < 50 {
		t.Errorf("certificates: %d bytes, %v", len(text), err)
	}
	for _, name := range []string{"LICENSE", "THIRD-PARTY-LICENCES"} {
		if info, err := os.Stat(filepath.Join(root, "usr/share/doc/trawl", name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	// The root is mounted read only over itself, with a volume where the image has one.
	const prepare = `set -e
ip link set lo up
mount --bind "$0" "$0"
mount -t tmpfs -o mode=0700,uid=10001,gid=10001 none "$0/var/lib/trawl"
mount -t proc none "$0/proc" 2>/dev/null || true
mount -o remount,bind,ro "$0"
! touch "$0/x" 2>/dev/null
cd "$0"
chroot --userspec=10001:10001 . "$@" &
daemon=$!
healthy=
for i in $(seq 120); do
	if chroot --userspec=10001:10001 . $HEALTH; then healthy=1; break; fi
	kill -0 $daemon || break
	sleep 1
done 2>/dev/null
kill -s "${STOP#SIG}" $daemon
wait $daemon
test -n "$healthy"
`
	args := append([]string{"--kill-child", "--mount", "--pid", "--fork", "--net", "sh", "-c", prepare, root}, c.Entrypoint...)
	args = append(args, "-regtest", "-listen=0", "-printtoconsole=0")
	cmd := exec.CommandContext(t.Context(), "unshare", args...)
	health := strings.Replace(strings.Join(c.Healthcheck.Test[1:], " "), " ", " -regtest ", 1) // before the method
	cmd.Env = append(c.Env, "STOP="+c.StopSignal, "HEALTH="+health, "PATH=/usr/sbin:/usr/bin:/sbin:/bin")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGKILL) }
	timer := time.AfterFunc(4*time.Minute, func() { _ = cmd.Cancel() })
	defer timer.Stop()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Podman takes the archive as it is, and runs the daemon in a container that is read only, healthy by
// the image's own check, and that ends well when it is stopped.
func TestPodman(t *testing.T) {
	packagesOnly(t)
	if _, err := exec.LookPath("podman"); err != nil {
		t.Skip("there is no podman")
	}
	archive := filepath.Join(released(t, "0.1.0"), "trawl-0.1.0-oci-amd64.tar")
	_, config := unpackImage(t, archive)
	health := strings.Join(config.Config.Healthcheck.Test[1:], " ")
	// The daemon's data goes into the volume that the image declares. Debian's runtime refuses the mixed
	// hierarchy of control groups of some hosts, of which the test's own mounts have one alone, and limits
	// higher than the host's.
	const script = `set -e
umount /sys/fs/cgroup/unified 2>/dev/null || true
p() {
	podman --root="$0/root" --runroot="$0/run" --storage-driver=vfs --cgroup-manager=cgroupfs "$@"
}
trap 'p rm --force --volumes trawl >/dev/null 2>&1; p rmi --all >/dev/null 2>&1' EXIT
image=$(p load --input="$1")
image=${image##*Loaded image: }
p create --name=trawl --read-only --network=none --cgroups=disabled --ulimit=nofile=4096:4096 \
	--ulimit=nproc=4096:4096 "$image" -listen=0
p start trawl
healthy=
for i in $(seq 60); do
	if p exec trawl $2; then healthy=1; break; fi
	sleep 1
done
p exec trawl /usr/bin/trawld -version
p stop --time=60 trawl
echo "healthy: $healthy, status: $(p inspect --format '{{.State.ExitCode}}' trawl)"
p logs trawl
`
	home := t.TempDir()
	out := command(t, ".", nil, "unshare", "--mount", "bash", "-c", script, home, archive, health)
	for _, want := range []string{"Trawl daemon version 0.1.0-", "healthy: 1, status: 0\n", "Shutdown done"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}
