package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/actors/notify/zmqsink"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/rpc"
	"github.com/seed61375155/trawl/store/nodefiles"
)

const exitFailure = 1

// session is a program that is ready to start its node: options are read,
// folders made and locked, the log is open.
type session struct {
	settings  *options.Settings
	netDir    string // absolute path of the network's folder
	blocksDir string // absolute path of the folder of the block files
	log       *slog.Logger
	attached  *trawl.Attachment // nil: the node validates its chain itself

	publisher *zmqsink.Publisher  // nil: nothing is published
	published []trawl.Publication // by it
	warnings  []string            // that hold as long as the node runs

	args    []string // of the command line
	home    string   // of the user
	filter  *corelog.Filter
	serving atomic.Pointer[rpc.Server] // nil: no calls are answered
	output  *corelog.Output
	manager serviceManager
	stderr  io.Writer

	terminal io.Writer // where a person reads the standard output; nil elsewhere

	locks   []*os.File
	pidPath string // empty: none
	stops   sync.Once

	hasRoom func(dir string, more uint64) bool // see the function of that name
}

// setup does everything that comes before the node. Without a session the
// program ends with the exit status: 0 after -help and -version, 1 after an
// error, which it has shown.
func setup(args []string, std streams) (*session, int) {
	settings, err := parse(args, std)
	var s *session
	if err == nil {
		s, err = open(settings, std)
	}
	if err == nil {
		s.args, s.home = args, std.home
	}
	if errors.Is(err, errAnswered) {
		return nil, 0
	}
	if errors.Is(err, errBackground) {
		return nil, goToBackground(settings, args, std)
	}
	if err != nil {
		showError(std.stderr, settings, err)
		return nil, exitFailure
	}
	return s, 0
}

// showError shows an error, or each of those that were joined. Without settings they were not read.
func showError(stderr io.Writer, settings *options.Settings, err error) {
	for _, err := range joined(err) {
		caption := "Error: "
		if strings.HasSuffix(err.Error(), reindexAdvice) { // Core asks about these, where there is somebody to be asked
			caption = ": "
			if settings != nil && laterCore(settings) {
				caption = ""
			}
		}
		fmt.Fprintf(stderr, "%s%v\n", caption, err)
	}
}

// joined returns the errors that errors.Join has put together. An error of fmt.Errorf is a single
// sentence, and stays a single error.
func joined(err error) []error {
	several, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	if again := errors.Join(several.Unwrap()...); again == nil || again.Error() != err.Error() {
		return []error{err}
	}
	var all []error
	for _, err := range several.Unwrap() {
		all = append(all, joined(err)...)
	}
	return all
}

// reindexAdvice ends the reasons not to start that a new start can mend.
const reindexAdvice = "\nPlease restart with -reindex or -reindex-chainstate to recover."

func showWarning(stderr io.Writer, text string) { fmt.Fprintln(stderr, "Warning:", text) }

// warn tells the operator, and the log.
func (s *session) warn(text string) {
	showWarning(s.stderr, text)
	corelog.Printf(s.log, slog.LevelWarn, "%s", text)
}

// open reads the configuration and takes possession of the data directory.
func open(settings *options.Settings, std streams) (*session, error) {
	if err := configure(settings, options.OS{}); err != nil {
		return nil, err
	}
	if err := answer(settings, std); err != nil { // by the configuration file
		return nil, err
	}
	warn(settings, std.stderr)
	attached, err := attachment(settings)
	if err != nil {
		return nil, err
	}
	if settings.Bool("check", false) {
		return nil, checkAttached(attached, std.stdout)
	}
	filter, err := newFilter(settings)
	if err != nil {
		return nil, err
	}
	blocks, err := blocksDir(settings)
	if err != nil {
		return nil, err
	}
	if err := checkDirs(settings, blocks); err != nil {
		return nil, err
	}
	if err := makeDirs(settings, blocks); err != nil {
		return nil, err
	}
	s := &session{
		settings: settings, netDir: settings.NetDir(), blocksDir: blocks, attached: attached,
		filter: filter, manager: findServiceManager(), stderr: std.stderr, hasRoom: hasRoom,
		terminal: terminalOf(std.stdout),
	}
	client := options.ClientOf(settings.Dialect())
	if s.locks, err = lockDirs(client, s.netDir, s.blocksDir); err != nil {
		return nil, err
	}
	if wantsBackground(settings) {
		return nil, errors.Join(errBackground, closeAll(s.locks))
	}
	if err := renewSettings(client, settings.SettingsFile()); err != nil {
		return nil, errors.Join(err, closeAll(s.locks))
	}
	if s.pidPath, err = writePID(settings); err != nil {
		return nil, errors.Join(err, closeAll(s.locks))
	}
	if s.output, s.log, err = openLog(settings, filter, std.stdout); err != nil {
		return nil, errors.Join(err, s.release())
	}
	logStart(s.log, settings, std.home)
	return s, nil
}

// renewSettings writes the file of settings that change at run time.
func renewSettings(client, path string) error {
	if err := nodefiles.NewSettings(nil, path).Named(client).Renew(); err != nil {
		return refuse("Settings file could not be written:\n- Error: Unable to open settings file %s for writing", path)
	}
	return nil
}

// warn shows what Core shows of a configuration that is odd but not wrong.
func warn(s *options.Settings, stderr io.Writer) {
	for _, remark := range s.Remarks() {
		if remark.Kind == options.Notice {
			fmt.Fprintln(stderr, remark.Text)
		}
	}
	for _, warning := range configWarnings(s) {
		showWarning(stderr, warning)
	}
}

// ready says that the node serves: to the process that has started it, to the service manager,
// and by the command of -startupnotify.
func (s *session) ready(ctx context.Context) {
	notifyReady()
	s.notifyManager("READY=1\nSTATUS=Answers calls")
	if command := s.settings.String("startupnotify", ""); command != "" {
		go s.runCommands(ctx, []string{command})
	}
}

// stopping says that the node begins to stop: it runs the commands of
// -shutdownnotify, once, and returns after they have ended.
func (s *session) stopping(ctx context.Context) {
	s.stops.Do(func() {
		s.log.Info("Shutdown in progress...")
		s.notifyManager("STOPPING=1\nSTATUS=Stopping")
		s.runCommands(ctx, s.settings.Strings("shutdownnotify"))
	})
}

// fail shows and logs why the node does not start or go on.
func (s *session) fail(err error) {
	showError(s.stderr, s.settings, err)
	for _, err := range joined(err) {
		corelog.Printf(s.log, slog.LevelError, "%v", err)
	}
}

// close ends a session whose node has stopped.
func (s *session) close(ctx context.Context) {
	s.stopping(ctx)
	if err := s.release(); err != nil {
		s.log.Error("cannot clean up", "err", err)
	}
	s.log.Info("Shutdown done")
	if err := s.output.Close(); err != nil {
		showError(s.stderr, s.settings, err)
	}
}

// release removes the file with the process number and gives the locks back.
func (s *session) release() error {
	var err error
	if s.pidPath != "" {
		err = os.Remove(s.pidPath)
	}
	return errors.Join(err, closeAll(s.locks))
}
