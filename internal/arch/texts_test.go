package arch

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// texts are the texts for newcomers. The files and names that they mention exist.
var texts = []string{
	"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "docs/how-to-add.md",
	"docs/how-a-block-becomes-a-balance.md", "docs/how-a-scan-answers.md",
}

// notOurs are names in the texts that look like paths of the module and are none.
var notOurs = map[string]string{
	"xor.dat": "Core's", "wallet.dat": "Core's", "blk*.dat": "Core's", "mempool.dat": "Core's", "banlist.json": "Core's",
	"fee_estimates.dat": "Core's",
	"peers.dat":         "Core's", "anchors.dat": "Core's", "trawl.conf": "the user's", "bitcoin.conf": "the user's",
	"settings.json":           "Core's",
	"bench/results/mutate.md": "made by make mutate", "debug.log": "the user's", ".cookie": "the user's",
}

var (
	quoted     = regexp.MustCompile("`([^`\n]+)`")
	pathLike   = regexp.MustCompile(`^[\w.…*-]+(/[\w.…*-]+)*/?$`)
	makeTarget = regexp.MustCompile("`make ([a-z0-9-]+)")
	namedType  = regexp.MustCompile("`(messages|nodemsg|ask|cores|filters|chaindb|chainview|trawl)\\.([A-Z]\\w+)")
	typeOf     = regexp.MustCompile(`^((?:actors|internal|rpc|store)/[\w/]+)\.([A-Z]\w+)$`)
	linked     = regexp.MustCompile(`\]\(([^)#:]+)\)`)
)

func readText(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestTextsNameWhatIsThere(t *testing.T) {
	exists := func(name string) bool {
		found, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(name)))
		return err == nil && len(found) > 0
	}
	types := exportedNames(t)
	for _, name := range texts {
		text := readText(t, name)
		for _, link := range linked.FindAllStringSubmatch(text, -1) {
			if !exists(path.Join(path.Dir(name), link[1])) {
				t.Errorf("%s links to %s", name, link[1])
			}
		}
		folder := "."
		for _, q := range quoted.FindAllStringSubmatch(text, -1) {
			at := strings.TrimSuffix(strings.ReplaceAll(q[1], "…", "*"), "/")
			if typ := typeOf.FindStringSubmatch(at); typ != nil {
				if !types[path.Base(typ[1])+"."+typ[2]] {
					t.Errorf("%s names %s, which is not there", name, q[1])
				}
				continue
			}
			if !isPath(at) && !slices.Contains(topFolders, at) {
				continue
			}
			// A name may go on from the folder that was named last.
			if exists(at) {
				if folder = at; path.Ext(at) != "" {
					folder = path.Dir(at)
				}
				continue
			}
			beside, isBeside := strings.CutPrefix(at, "*/")
			if !exists(path.Join(folder, at)) && !exists(path.Join(path.Dir(folder), at)) &&
				(!isBeside || !exists(path.Join(folder, "..", beside))) {
				t.Errorf("%s names %s, which is not there", name, q[1])
			}
		}
	}
}

// isPath reports whether a text in backquotes names a file or folder of the module.
func isPath(text string) bool {
	if !pathLike.MatchString(text) || notOurs[text] != "" {
		return false
	}
	first, _, deep := strings.Cut(text, "/")
	if !deep {
		return slices.Contains([]string{".go", ".md", ".txt", ".yml", ".mod", ".json", ".dat"}, path.Ext(text))
	}
	return first == "*" || slices.Contains(topFolders, first)
}

var topFolders = []string{
	"actors", "bench", "cmd", "deploy", "descriptor", "docs", "filters", "internal", "messages", "rpc", "store",
}

func TestTextsNameTargetsAndTypes(t *testing.T) {
	makefile := readText(t, "Makefile")
	types := exportedNames(t)
	for _, name := range texts {
		text := readText(t, name)
		for _, m := range makeTarget.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(makefile, "\n"+m[1]+":") {
				t.Errorf("%s: there is no make %s", name, m[1])
			}
		}
		for _, m := range namedType.FindAllStringSubmatch(text, -1) {
			if !types[m[1]+"."+m[2]] {
				t.Errorf("%s: there is no %s.%s", name, m[1], m[2])
			}
		}
	}
}

// exportedNames returns what the packages of the module export, as in "match.View".
func exportedNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, f := range folders(t) {
		for _, file := range f.files {
			for _, decl := range file.Decls {
				for _, name := range exported(decl) {
					names[file.Name.Name+"."+name] = true
				}
			}
		}
	}
	return names
}

// exported returns the exported names that a declaration declares on the level of its
// package; those of methods, too.
func exported(decl ast.Decl) (names []string) {
	add := func(name *ast.Ident) {
		if name.IsExported() {
			names = append(names, name.Name)
		}
	}
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		add(decl.Name)
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				add(spec.Name)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					add(name)
				}
			}
		}
	}
	return names
}

// Every folder of the first levels has its row in ARCHITECTURE.md.
func TestRoomsAreInArchitecture(t *testing.T) {
	text := readText(t, "ARCHITECTURE.md")
	for _, f := range folders(t) {
		parts := strings.Split(f.name, "/")
		if len(parts) == 1 || len(f.files) == 0 ||
			len(parts) > 2 && !strings.HasPrefix(f.name, "store/internal/") || strings.HasPrefix(f.name, "bench/") {
			continue
		}
		last := path.Base(f.name)
		if !strings.Contains(text, "`"+f.name+"`") && !strings.Contains(text, "`…/"+last+"`") &&
			!strings.Contains(text, "`"+last+"`") {
			t.Errorf("%s has no row in ARCHITECTURE.md", f.name)
		}
	}
}
