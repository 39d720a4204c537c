package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
)

// A point is a measurement of both programs: how long a call over so many scripts takes.
type point struct{ scripts, trawl, core float64 } // milliseconds

// plot draws the table of whole calls in a file of results as a picture, in SVG: time over
// scripts, both axes logarithmic.
func plot(results, picture string) error {
	text, err := os.ReadFile(results)
	if err != nil {
		return err
	}
	points, err := callTimes(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", results, err)
	}
	var b strings.Builder
	draw(&b, points)
	return os.WriteFile(picture, []byte(b.String()), 0o644)
}

// callTimes reads the rows of calls as the node chooses to answer them: the first row of each number
// of scripts.
func callTimes(text string) ([]point, error) {
	_, text, found := strings.Cut(text, "## ScanBlocks\n")
	if !found {
		return nil, errors.New("there is no table of ScanBlocks")
	}
	text, _, _ = strings.Cut(text, "\n## ")
	var points []point
	var columns map[string]int
	for row := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), "|")
		if len(cells) < 2 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if columns == nil {
			columns = map[string]int{}
			for i, name := range cells {
				columns[name] = i
			}
			continue
		}
		p, ok := callTime(cells, columns)
		if ok && (len(points) == 0 || points[len(points)-1].scripts != p.scripts) {
			points = append(points, p)
		}
	}
	if len(points) < 2 {
		return nil, errors.New("there are no calls beside Bitcoin Core")
	}
	return points, nil
}

func callTime(cells []string, columns map[string]int) (p point, ok bool) {
	number := func(name string) float64 {
		i, found := columns[name]
		if !found || i >= len(cells) {
			return 0
		}
		value, err := strconv.ParseFloat(cells[i], 64)
		if err != nil {
			return 0
		}
		return value
	}
	p = point{number("k"), number("ms"), number("core-ms")}
	i, found := columns["ffp"]
	return p, p.scripts > 0 && p.trawl > 0 && p.core > 0 && found && cells[i] == "off"
}

// The picture, in pixels: the frame of the plot within it.
const (
	pictureWidth, pictureHeight  = 720, 380
	left, right, upper, lower    = 90, 590, 40, 320
	trawlColour, coreColour      = "#1f6feb", "#d4762a"
	fastest, slowest             = 1, 100_000 // milliseconds
	fewestScripts, mostOfScripts = 1, 10_000
)

// across and down are where a value stands in the picture.
func across(scripts float64) float64 {
	return left + (right-left)*math.Log10(scripts/fewestScripts)/math.Log10(float64(mostOfScripts)/fewestScripts)
}

func down(ms float64) float64 {
	return lower - (lower-upper)*math.Log10(ms/fastest)/math.Log10(float64(slowest)/fastest)
}

func draw(w io.Writer, points []point) {
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">
<title>Time of scanblocks over the number of scripts, Trawl and Bitcoin Core</title>
<rect width="100%%" height="100%%" fill="#ffffff"/>
`, pictureWidth, pictureHeight)
	for ms := float64(fastest); ms <= slowest; ms *= 10 {
		rule(w, left, down(ms), right, down(ms))
		label(w, left-8, down(ms)+4, "end", duration(ms))
	}
	for n := float64(fewestScripts); n <= mostOfScripts; n *= 10 {
		rule(w, across(n), upper, across(n), lower)
		label(w, across(n), lower+20, "middle", strconv.FormatFloat(n, 'f', -1, 64))
	}
	label(w, (left+right)/2, lower+44, "middle", "scripts that are looked for")
	curve(w, points, coreColour, "Bitcoin Core", func(p point) float64 { return p.core })
	curve(w, points, trawlColour, "Trawl", func(p point) float64 { return p.trawl })
	fmt.Fprintln(w, "</svg>")
}

func rule(w io.Writer, x1, y1, x2, y2 float64) {
	fmt.Fprintf(w, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#d0d7de"/>`+"\n", x1, y1, x2, y2)
}

func label(w io.Writer, x, y float64, anchor, text string) {
	fmt.Fprintf(w, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="#1f2328">%s</text>`+"\n", x, y, anchor, text)
}

func curve(w io.Writer, points []point, colour, name string, value func(point) float64) {
	var path strings.Builder
	for _, p := range points {
		fmt.Fprintf(&path, "%.1f,%.1f ", across(p.scripts), down(value(p)))
	}
	line := strings.TrimSpace(path.String())
	fmt.Fprintf(w, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2.5"/>`+"\n", line, colour)
	for _, p := range points {
		fmt.Fprintf(w, `<circle cx="%.1f" cy="%.1f" r="4" fill="%s"/>`+"\n", across(p.scripts), down(value(p)), colour)
	}
	last := points[len(points)-1]
	label(w, right+12, down(value(last))+4, "start", name)
}

func duration(ms float64) string {
	if ms >= 1000 {
		return strconv.FormatFloat(ms/1000, 'f', -1, 64) + " s"
	}
	return strconv.FormatFloat(ms, 'f', -1, 64) + " ms"
}
