//go:build unix

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"github.com/seed61375155/trawl/internal/options"
)

// backgroundEnv tells a program that it was started to run in the background, and
// names the file on which it is to say that the node serves.
const backgroundEnv = "TRAWLD_BACKGROUND"

// errBackground reports that the user asked for a program in the background.
var errBackground = errors.New("to be run in the background")

// wantsBackground reports whether -daemon or -daemonwait asks this program, which
// runs in the foreground, to go to the background.
func wantsBackground(s *options.Settings) bool {
	return os.Getenv(backgroundEnv) == "" && (s.Bool("daemonwait", false) || s.Bool("daemon", false))
}

// isBackground reports whether the program runs in the background, as an option
// asks.
func isBackground(s *options.Settings) bool {
	return s.Bool("daemonwait", false) || s.Bool("daemon", false)
}

// goToBackground starts the program again, in a session of its own and without
// the streams of this process. It returns the exit status of this process: at
// once, or, with -daemonwait, when the other's node serves or has failed to
// start.
func goToBackground(s *options.Settings, args []string, std streams) int {
	err := startAgain(s, args, std.stdout)
	if err != nil {
		showError(std.stderr, s, err)
		return exitFailure
	}
	return 0
}

func startAgain(s *options.Settings, args []string, stdout io.Writer) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	nothing, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer nothing.Close()
	ready, writer, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()
	cmd := exec.Command(program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = nothing, nothing, nothing
	cmd.ExtraFiles = []*os.File{writer}
	cmd.Env = append(os.Environ(), backgroundEnv+"="+strconv.Itoa(firstExtraFile))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	fmt.Fprintln(stdout, "Trawl starting")
	err = cmd.Start()
	if closed := writer.Close(); err == nil {
		err = closed
	}
	if err != nil || !s.Bool("daemonwait", false) {
		return err
	}
	if _, err := bufio.NewReader(ready).ReadByte(); err != nil {
		_ = cmd.Wait()
		return initError("Error during initialization - check " + logPath(s) + " for details")
	}
	return nil
}

// firstExtraFile is the number of the first of exec.Cmd's extra files.
const firstExtraFile = 3

// notifyReady notifies the program that started this one in the background that the
// node serves.
func notifyReady() {
	fd, err := strconv.Atoi(os.Getenv(backgroundEnv))
	if err != nil {
		return
	}
	_ = os.Unsetenv(backgroundEnv) // it is not for the commands that are run from here
	file := os.NewFile(uintptr(fd), "ready")
	_, _ = file.Write([]byte{'\n'}) // it may have left
	_ = file.Close()
}
