// Command image makes an archive of a container image in the form of the OCI, out of our programs and their licences,
// certificates and time zones and nothing else. It needs no daemon and no registry, and the
// same programs give the same bytes.
//
// It is a module of its own, so that the library that it is made with is no dependency of Trawl.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

func main() {
	var r release
	seconds := flag.Int64("time", 0, "time of all files, in seconds since 1970")
	programs := flag.String("programs", "", "folder with the programs and their licences")
	out := flag.String("out", "", "archive to write")
	flag.StringVar(&r.arch, "arch", "", "architecture of the programs, as Go names it")
	flag.StringVar(&r.version, "version", "", "version of the programs")
	flag.StringVar(&r.revision, "revision", "", "revision of the programs")
	flag.Parse()
	r.time = time.Unix(*seconds, 0).UTC()
	if err := r.write(*out, *programs); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// release is what is said of the image.
type release struct {
	arch, version, revision string
	time                    time.Time
}

// write writes the archive with the image of the programs in a folder.
func (r *release) write(out, programs string) error {
	image, err := r.image(programs)
	if err != nil {
		return err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
		Platform: &v1.Platform{OS: "linux", Architecture: r.arch},
		Annotations: map[string]string{
			"org.opencontainers.image.ref.name": r.name(),
			"io.containerd.image.name":          "docker.io/library/" + r.name(), // as docker load reads it
		},
	}})
	dir, err := os.MkdirTemp("", "trawl-image")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if _, err := layout.Write(dir, index); err != nil {
		return err
	}
	if err := r.describe(image, dir); err != nil {
		return err
	}
	return archive(out, dir, r.time)
}

func (r *release) name() string { return "trawl:" + r.version }

// describe adds the file by which a Docker without the image store of containerd finds the parts of an archive.
func (r *release) describe(image v1.Image, dir string) error {
	manifest, err := image.Manifest()
	if err != nil {
		return err
	}
	path := func(h v1.Hash) string { return "blobs/" + h.Algorithm + "/" + h.Hex }
	entry := struct {
		Config           string
		RepoTags, Layers []string
	}{Config: path(manifest.Config.Digest), RepoTags: []string{r.name()}}
	for _, l := range manifest.Layers {
		entry.Layers = append(entry.Layers, path(l.Digest))
	}
	text, err := json.Marshal([]any{entry})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o644)
}

// image is what the image holds, and how it is run.
func (r *release) image(programs string) (v1.Image, error) {
	layer, err := layer(programs, r.time)
	if err != nil {
		return nil, err
	}
	image := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	image = mutate.ConfigMediaType(image, types.OCIConfigJSON)
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, MediaType: types.OCILayer, History: v1.History{
		Created: v1.Time{Time: r.time}, CreatedBy: "deploy/image " + runtime.Version(),
	}})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", r.arch, v1.Time{Time: r.time}
	config.Config = v1.Config{
		User:       userID + ":" + userID,
		Env:        []string{"PATH=/usr/bin", "HOME=" + stateDir, "ZONEINFO=" + zones},
		Entrypoint: []string{"/usr/bin/trawld", "-datadir=" + stateDir, "-nodebuglogfile"},
		WorkingDir: stateDir, StopSignal: "SIGTERM",
		Volumes:      map[string]struct{}{stateDir: {}},
		ExposedPorts: map[string]struct{}{"8332/tcp": {}, "8333/tcp": {}, "9332/tcp": {}},
		Healthcheck: &v1.HealthConfig{
			Test: []string{
				"CMD", "/usr/bin/trawl-cli", "-datadir=" + stateDir, "-rpcclienttimeout=10", "getblockcount",
			},
			Interval: 30 * time.Second, Timeout: 15 * time.Second, StartPeriod: 10 * time.Minute, Retries: 3,
		},
		Labels: map[string]string{
			"org.opencontainers.image.title":    "trawl",
			"org.opencontainers.image.version":  r.version,
			"org.opencontainers.image.revision": r.revision,
			"org.opencontainers.image.licenses": "ISC",
		},
	}
	return mutate.ConfigFile(image, config)
}
