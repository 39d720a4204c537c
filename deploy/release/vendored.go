package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

const (
	vendorDir    = "rpc/web/assets/vendor" // files of others that are in the daemon
	vendorScript = "rpc/web/vendor.sh"     // what brings them
)

// bringLine is where the script names a package, its version, its hash and its folder.
var bringLine = regexp.MustCompile(`(?m)^bring (\S+) (\S+) '\S+' \\\n\t` + vendorDir + `/(\S+)`)

// vendored returns the packages of others that are in the daemon and are no modules: those of its page.
func (b *build) vendored() ([]module, error) {
	script, err := os.ReadFile(filepath.Join(b.source, vendorScript))
	if err != nil {
		return nil, err
	}
	named := map[string]module{} // by folder
	for _, m := range bringLine.FindAllSubmatch(script, -1) {
		folder := string(m[3])
		named[folder] = module{
			Path: string(m[1]), Version: string(m[2]), Dir: filepath.Join(b.source, vendorDir, folder),
		}
	}
	entries, err := os.ReadDir(filepath.Join(b.source, vendorDir)) // in order
	if err != nil {
		return nil, err
	}
	var list []module
	for _, e := range entries {
		m, ok := named[e.Name()]
		if !ok {
			return nil, fmt.Errorf("%s does not say what %s/%s is", vendorScript, vendorDir, e.Name())
		}
		list = append(list, m)
	}
	return list, nil
}

// addComponents adds packages of npm's registry to a list of contents by CycloneDX.
func addComponents(path string, list []module) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var contents map[string]any
	if err := json.Unmarshal(text, &contents); err != nil {
		return err
	}
	components, _ := contents["components"].([]any)
	for _, m := range list {
		address := "pkg:npm/" + m.Path + "@" + m.Version
		components = append(components, map[string]any{
			"bom-ref": address, "type": "library", "name": m.Path, "version": m.Version, "purl": address,
		})
	}
	contents["components"] = components
	if text, err = json.MarshalIndent(contents, "", "  "); err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
