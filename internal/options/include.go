package options

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// configName is the name a configuration file has without -conf. Without that
// file it is the one of the dialect's reference node.
const configName = "trawl.conf"

// ReadConfig finds and reads the configuration file, if there is one, and those
// it includes. -conf names it, relative to the data directory; a file named so
// must exist. Without -conf it is trawl.conf or else bitcoin.conf there, or
// that of the dialect.
//
// Errors are of type [*Error]; programs put "Error reading configuration file: "
// before the text.
func (s *Settings) ReadConfig(files Files) error {
	text, err := s.openConfig(files)
	if err != nil {
		return err
	}
	if err := s.addConfig(text, s.configPath); err != nil {
		return err
	}
	if len(s.commandLine["includeconf"]) == 0 { // else it is -noincludeconf
		if err := s.readIncluded(files); err != nil {
			return err
		}
	}
	if !s.dataDirExists(files) {
		return errorf("specified data directory \"%s\" does not exist.", s.String("datadir", ""))
	}
	return nil
}

// openConfig settles the path of the configuration file and reads it. A file
// that nobody asked for may be missing.
func (s *Settings) openConfig(files Files) (string, error) {
	if s.IsNegated("conf") {
		return "", nil
	}
	if path := s.Path("conf", ""); path != "" {
		s.configPath = below(s.DataDir(), path)
		if files.IsDir(s.configPath) {
			return "", errorf("Config file \"%s\" is a directory.", s.configPath)
		}
		text, err := files.ReadFile(s.configPath)
		if err != nil {
			return "", errorf("specified config file \"%s\" could not be opened.", s.configPath)
		}
		return string(text), nil
	}
	for i, name := range s.configNames() {
		path := below(s.DataDir(), name)
		if files.IsDir(path) {
			return "", errorf("Config file \"%s\" is a directory.", path)
		}
		text, err := files.ReadFile(path)
		if err == nil {
			s.configPath = path
			s.remarkUnread(files, s.configNames()[i+1:])
			return string(text), nil
		}
		if s.unreadable == nil && !errors.Is(err, fs.ErrNotExist) {
			s.unreadable = err
		}
	}
	s.configPath = below(s.DataDir(), configName)
	return "", nil
}

// remarkUnread warns of files that are left unread because another configuration
// file exists.
func (s *Settings) remarkUnread(files Files, names []string) {
	for _, name := range names {
		path := below(s.DataDir(), name)
		if _, err := files.ReadFile(path); err == nil {
			s.remark(Warning, "The configuration file %s is not read, because %s is there.", path, s.configPath)
		}
	}
}

// readIncluded reads the files that includeconf names, which may not include
// others in turn. Where the options contradict each other about the network,
// no section counts: [Settings.SelectChain] reports it.
func (s *Settings) readIncluded(files Files) error {
	chain, _ := s.chainName()
	inSection, inDefault := s.includes(chain), s.includes("")
	for _, v := range append(inSection.live(), inDefault.live()...) {
		if err := s.readInclude(files, v.string()); err != nil {
			return err
		}
	}
	ignored := append(s.includes(chain)[len(inSection):], s.includes("")[len(inDefault):]...)
	if now, err := s.chainName(); err == nil && now != chain {
		ignored = append(ignored, s.includes(now).live()...)
	}
	for _, v := range ignored {
		s.remark(
			Notice, "warning: -includeconf cannot be used from included files; ignoring -includeconf=%s", v.string(),
		)
	}
	return nil
}

// includes returns a copy of the includeconf values of a section.
func (s *Settings) includes(section string) span {
	return append(span(nil), s.config[section]["includeconf"]...)
}

func (s *Settings) readInclude(files Files, name string) error {
	path := below(s.DataDir(), name)
	if name != "" && files.IsDir(path) {
		return errorf("Included config file \"%s\" is a directory.", path)
	}
	text, err := files.ReadFile(path)
	if err != nil {
		return errorf("Failed to include configuration file %s", name)
	}
	if err := s.addConfig(string(text), name); err != nil {
		return err
	}
	s.remark(Note, "Included configuration file %s", name)
	return nil
}

// Unreadable returns why an existing configuration file that no option names could not be read; nil
// if there is no such file. The file counts for nothing then, as in Core.
func Unreadable(s *Settings) error { return s.unreadable }

// ConfigPath returns the absolute path of the configuration file, whether it
// exists or not; it is empty with -noconf.
func (s *Settings) ConfigPath() string { return s.configPath }

// CheckIgnoredConfig compares the file that was read with the configuration
// file in the data directory, for a datadir= in the file may lead elsewhere.
// Core refuses to start on a file that lies there unread, which
// -allowignoredconf turns into a warning. startDir is [Settings.DataDir] from
// before the file was read.
func (s *Settings) CheckIgnoredConfig(files Files, startDir string) error {
	var unread string
	for _, name := range s.configNames() {
		path := filepath.Join(s.DataDir(), name)
		if _, err := files.ReadFile(path); err == nil {
			if path == s.configPath {
				return nil
			}
			if unread == "" {
				unread = name
			}
		}
	}
	if unread == "" {
		return nil
	}
	if s.configPath == "" {
		s.remark(Note, "Data directory %s contains a %s file which is explicitly ignored using -noconf.",
			quote(s.DataDir()), quote(unread))
		return nil
	}
	origin := "data directory " + quote(startDir)
	if conf := s.String("conf", ""); conf != "" {
		origin = "command line argument " + quote("-conf="+conf)
	}
	problem := errorf(ignoredConfig, quote(s.DataDir()), quote(unread), quote(s.configPath), origin)
	if s.Bool("allowignoredconf", false) {
		s.remark(Warning, "%s", problem.Error())
		return nil
	}
	return errorf(
		"%s\n- Set allowignoredconf=1 option to treat this condition as a warning, not an error.", problem.Error(),
	)
}

const ignoredConfig = "Data directory %[1]s contains a %[2]s file which is ignored, because a different " +
	"configuration file " +
	"%[3]s from %[4]s is being used instead. Possible ways to address this would be to:\n" +
	"- Delete or rename the %[2]s file in data directory %[1]s.\n" +
	"- Change datadir= or conf= options to specify one configuration file, not two, and use " +
	"includeconf= to include any other configuration files."
