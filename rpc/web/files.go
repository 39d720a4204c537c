package web

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/seed61375155/trawl/rpc"
)

//go:embed assets
var files embed.FS

// kinds are the content types of files, which those of the machine do not change.
var kinds = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
	".png": "image/png", ".ico": "image/x-icon", ".woff2": "font/woff2", ".json": "application/json",
	".txt": "text/plain; charset=utf-8", ".webmanifest": "application/manifest+json",
}

// An asset is a file that is sent as it is.
type asset struct {
	kind, tag string
	body      []byte
}

// readAssets reads all files of the folder assets, by their paths in it.
func readAssets() (map[string]asset, error) {
	all := map[string]asset{}
	err := fs.WalkDir(files, "assets", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		kind := cmp.Or(kinds[path.Ext(name)], "application/octet-stream")
		sum := sha256.Sum256(body)
		all[strings.TrimPrefix(name, "assets/")] = asset{
			kind, `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`, body,
		}
		return nil
	})
	return all, err
}

// serve sends a file, if the browser does not have it.
func (a asset) serve(d *rpc.Door, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache") // asked for each time, sent once
	w.Header().Set("Etag", a.tag)
	for tag := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if strings.TrimPrefix(strings.TrimSpace(tag), "W/") == a.tag {
			d.Reply(w, http.StatusNotModified, a.kind, nil)
			return
		}
	}
	d.Reply(w, http.StatusOK, a.kind, a.body)
}
