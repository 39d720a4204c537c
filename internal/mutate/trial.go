package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A trial breaks packages and runs their tests.
type trial struct {
	dir        string // for broken files
	out        io.Writer
	n          int
	seed       uint64
	equivalent map[string]string
}

// A row is what became of a package's places.
type row struct {
	pkg              string
	killed, timedOut int
	survived         []string
	equivalent       int
}

// pkg breaks one package at n places, one after the other.
func (t *trial) pkg(ctx context.Context, pattern string) (row, error) {
	dir, files, err := list(ctx, pattern)
	if err != nil {
		return row{}, err
	}
	r := row{pkg: pattern}
	places, sources, err := allPlaces(dir, files)
	if err != nil {
		return r, err
	}
	limit, err := unbroken(ctx, pattern)
	if err != nil {
		return r, err
	}
	random := rand.New(rand.NewPCG(t.seed, 0)) //nolint:gosec // the same places for the same seed
	random.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	for _, p := range places {
		if r.killed+r.timedOut+len(r.survived) >= t.n {
			break
		}
		if err := t.try(ctx, pattern, p, sources[p.file], limit, &r); err != nil {
			return r, err
		}
	}
	return r, ctx.Err()
}

// unbroken runs the tests of an unchanged package three times and returns how long a
// run may take. Several runs find tests that fail by chance, which would count as
// having noticed a change.
func unbroken(ctx context.Context, pattern string) (time.Duration, error) {
	var slowest time.Duration
	for range 3 {
		began := time.Now()
		if text, err := test(ctx, pattern, "", 10*time.Minute); err != nil {
			return 0, fmt.Errorf("the tests fail as they are: %w\n%s", err, text)
		}
		slowest = max(slowest, time.Since(began))
	}
	return 3*slowest + 30*time.Second, nil
}

// try breaks a package at one place.
func (t *trial) try(ctx context.Context, pattern string, p place, source []byte, limit time.Duration, r *row) error {
	name := filepath.Base(p.file) + " " + p.name(source)
	if t.equivalent[pattern+" "+name] != "" {
		r.equivalent++
		return nil
	}
	overlay, err := t.overlay(p, source)
	if err != nil {
		return err
	}
	text, err := test(ctx, pattern, overlay, limit)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		r.survived = append(r.survived, name)
		fmt.Fprintf(t.out, "%s survived: %s:%d %s\n", pattern, filepath.Base(p.file), p.line, p.name(source))
	case bytes.Contains(text, []byte("[build failed]")) || bytes.Contains(text, []byte("[setup failed]")):
	case errors.Is(err, context.DeadlineExceeded) || bytes.Contains(text, []byte("panic: test timed out")):
		r.timedOut++
		fmt.Fprintf(t.out, "%s took too long: %s:%d %s\n", pattern, filepath.Base(p.file), p.line, p.name(source))
	default:
		r.killed++
	}
	return nil
}

// overlay writes the broken file, and what tells the go command to take it.
func (t *trial) overlay(p place, source []byte) (string, error) {
	broken := filepath.Join(t.dir, "broken.go")
	content := string(source[:p.from]) + p.text + string(source[p.to:])
	if err := os.WriteFile(broken, []byte(content), 0o600); err != nil {
		return "", err
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {p.file: broken}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(t.dir, "overlay.json")
	return path, os.WriteFile(path, replace, 0o600)
}

// fronts names, for a package, the packages in front of it whose tests judge it too:
// recordings of a reference run against the front.
var fronts = map[string][]string{
	"./internal/wallet/book":  {"./internal/wallet"},
	"./internal/wallet/vault": {"./internal/wallet"},
	"./internal/wallet/keys":  {"./internal/wallet"},
	"./internal/wallet/txs":   {"./internal/wallet"},

	"./actors/wallets/internal/files": {"./actors/wallets"}, // whose requests are the tests of files
}

// test runs the tests of a package, and of its front. The error is nil when they pass.
func test(ctx context.Context, pattern, overlay string, limit time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit+time.Minute)
	defer cancel()
	args := []string{"test", "-count=1", "-failfast", "-vet=off", "-timeout=" + limit.String()}
	if overlay != "" {
		args = append(args, "-overlay="+overlay)
	}
	args = append(append(args, pattern), fronts[pattern]...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.WaitDelay = time.Second
	text, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return text, ctx.Err()
	}
	return text, err
}

// list returns the folder of a package and its files, as this machine builds them.
func list(ctx context.Context, pattern string) (dir string, files []string, err error) {
	text, err := exec.CommandContext(ctx, "go", "list", "-f",
		`{{.Dir}}{{range .GoFiles}}{{"\n"}}{{.}}{{end}}`, pattern).Output()
	if err != nil {
		return "", nil, err
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[0], lines[1:], nil
}

func allPlaces(dir string, files []string) (places []place, sources map[string][]byte, err error) {
	sources = map[string][]byte{}
	for _, name := range files {
		path := filepath.Join(dir, name)
		found, source, err := placesOf(path)
		if err != nil {
			return nil, nil, err
		}
		places, sources[path] = append(places, found...), source
	}
	if len(places) == 0 {
		return nil, nil, errors.New("there is nothing to break")
	}
	return places, sources, nil
}

// readEquivalent reads which changes make no difference: lines of a name, a tab and
// the reason.
func readEquivalent(path string) (map[string]string, error) {
	file, err := os.Open(path) //nolint:gosec // of the module
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // none
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	same := map[string]string{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if name, why, ok := strings.Cut(lines.Text(), "\t"); ok {
			same[name] = why
		}
	}
	return same, lines.Err()
}

// table writes the rows as a table for bench/results.
func table(rows []row, n int, seed uint64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Places broken by chance (%d of a package, seed %d), judged by its own tests and those of its "+
		"front.\n\n", n, seed)
	b.WriteString("| package | killed | too long | survived | equivalent | share killed |\n")
	b.WriteString("|---|---|---|---|---|---|\n")
	var all row
	var survived int
	for _, r := range rows {
		all.killed += r.killed
		all.timedOut += r.timedOut
		all.equivalent += r.equivalent
		survived += len(r.survived)
		line(&b, strings.TrimPrefix(r.pkg, "./"), r, len(r.survived))
	}
	line(&b, "all", all, survived)
	for _, r := range rows {
		for _, name := range r.survived {
			fmt.Fprintf(&b, "\nsurvived in %s: %s", strings.TrimPrefix(r.pkg, "./"), name)
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func line(b *strings.Builder, name string, r row, survived int) {
	total := r.killed + r.timedOut + survived
	share := 0.0
	if total > 0 {
		share = 100 * float64(r.killed+r.timedOut) / float64(total)
	}
	fmt.Fprintf(b, "| %s | %d | %d | %d | %d | %.0f %% |\n", name, r.killed, r.timedOut, survived, r.equivalent, share)
}
