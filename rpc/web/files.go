package web

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
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
	*sheet

	kind string
}

// readAssets reads all files of the folder assets, by their names in it. The version is that of all.
func readAssets() (all map[string]asset, version string, err error) {
	all = map[string]asset{}
	whole := sha256.New()
	err = fs.WalkDir(files, "assets", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(whole, "%s %d ", name, len(body))
		_, _ = whole.Write(body)
		kind := cmp.Or(kinds[path.Ext(name)], "application/octet-stream")
		all[strings.TrimPrefix(name, "assets/")] = asset{newSheet(body), kind}
		return nil
	})
	return all, base64.RawURLEncoding.EncodeToString(whole.Sum(nil)[:9]), err
}

// serve sends a file, if the browser does not have it. lasts: the address is of these very bytes.
func (a asset) serve(d *rpc.Door, w http.ResponseWriter, r *http.Request, lasts bool) {
	w.Header().Set("Cache-Control", "no-cache") // asked for each time, sent once
	if lasts {
		w.Header().Set("Cache-Control", "max-age=31536000, immutable")
	}
	w.Header().Set("Vary", "Accept-Encoding") // and neither the login nor the cookie
	w.Header().Set("Etag", a.tag)
	if hasTag(r, a.tag) {
		d.Reply(w, http.StatusNotModified, a.kind, nil)
		return
	}
	d.Reply(w, http.StatusOK, a.kind, a.pick(w.Header(), r))
}
