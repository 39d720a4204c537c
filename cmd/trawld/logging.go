package main

import (
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/version"
)

// newFilter reads the options that say what is logged.
func newFilter(s *options.Settings) (*corelog.Filter, error) {
	return corelog.NewFilter(s.Strings("debug"), s.Strings("debugexclude"), s.Strings("loglevel"))
}

// logPath is the absolute path of the log file, empty with -nodebuglogfile.
func logPath(s *options.Settings) string {
	if s.IsNegated("debuglogfile") {
		return ""
	}
	return s.BelowNetDir(s.Path("debuglogfile", "debug.log"))
}

// openLog opens the log as the options say.
func openLog(s *options.Settings, filter *corelog.Filter, stdout io.Writer) (*corelog.Output, *slog.Logger, error) {
	path := logPath(s)
	if path != "" && s.Bool("shrinkdebugfile", filter.Quiet()) {
		if err := corelog.Shrink(path); err != nil {
			return nil, nil, refuse("Could not open debug log file %s", path)
		}
	}
	if !s.Bool("printtoconsole", !isBackground(s)) {
		stdout = nil
	}
	out, err := corelog.Open(path, stdout)
	if err != nil {
		return nil, nil, refuse("Could not open debug log file %s", path)
	}
	var rate *corelog.RateLimit
	if s.Bool("logratelimit", true) {
		rate = corelog.NewRateLimit()
	}
	return out, slog.New(corelog.New(out, filter, corelog.Layout{
		Rate:            rate,
		NoTimestamps:    !s.Bool("logtimestamps", true),
		Micros:          s.Bool("logtimemicros", false),
		ThreadNames:     s.Bool("logthreadnames", false),
		SourceLocations: s.Bool("logsourcelocations", false),
		AlwaysLevel:     s.Bool("loglevelalways", false),
	})), nil
}

// logStart writes the lines a log begins with: Core's, in Core's words.
func logStart(log *slog.Logger, s *options.Settings, home string) {
	info := func(format string, args ...any) { corelog.Printf(log, slog.LevelInfo, format, args...) }
	info("Trawl version %s", version.String())
	if !s.Bool("logtimestamps", true) {
		info("Startup time: %s", time.Now().UTC().Format("2006-01-02T15:04:05Z"))
	}
	info("Default data directory %s", options.DefaultDataDir(home))
	info("Using data directory %s", s.NetDir())
	info("Config file: %s", configState(s.ConfigPath()))
	for _, line := range s.Listing() {
		info("%s", line)
	}
	for _, remark := range s.Remarks() {
		switch remark.Kind {
		case options.Note:
			if text, ok := strings.CutPrefix(remark.Text, "Warning: "); ok && laterCore(s) {
				text = strings.Replace(text, "parsed potentially", "Parsed potentially", 1)
				corelog.Printf(log, slog.LevelWarn, "%s", text)
				continue
			}
			info("%s", remark.Text)
		case options.Warning, options.Notice:
			corelog.Printf(log, slog.LevelWarn, "%s", remark.Text)
		}
	}
	for _, warning := range configWarnings(s) {
		corelog.Printf(log, slog.LevelWarn, "%s", warning)
	}
	if s.Chain() == options.Testnet {
		const testnet3 = "Support for testnet3 is deprecated and will be removed in an upcoming release. Consider " +
			"switching to testnet4."
		if laterCore(s) {
			corelog.Printf(log, slog.LevelWarn, "%s", testnet3)
		} else {
			info("%s", "Warning: "+testnet3)
		}
	}
	if laterCore(s) {
		for range warnsOfGone(s) {
			corelog.Printf(log, slog.LevelWarn, "%s", dialect.GoneCategory(goneCategory))
		}
	}
	for _, line := range slices.Concat(interactions(s).lines, ignored(s)) {
		info("%s", line)
	}
	for _, option := range withoutEffect(s) {
		corelog.Printf(log, slog.LevelWarn, "Option -%s has no effect in this version.", option)
	}
}

// goneCategory is a category of the log that Core 32 takes no more; it only warns.
const goneCategory = "libevent"

// warnsOfGone is how often options name a category that is gone. Of -debug nothing counts before 0 or none.
func warnsOfGone(s *options.Settings) (times int) {
	for _, name := range s.Strings("debug") {
		switch name {
		case "0", "none":
			times = 0
		case goneCategory:
			times++
		}
	}
	for _, name := range slices.Concat(s.Strings("debugexclude"), s.Strings("loglevel")) {
		if name, _, _ = strings.Cut(name, ":"); name == goneCategory {
			times++
		}
	}
	return times
}

// configState is the path of the configuration file and whether it is there.
func configState(path string) string {
	if path == "" {
		return "<disabled>"
	}
	if _, err := os.Stat(path); err != nil {
		return path + " (not found, skipping)"
	}
	return path
}
