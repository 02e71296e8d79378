package testenv

import "os"

// Etc is the environment variable with the directory that ibkit reads in place of /etc.
const Etc = "IBKIT_ETC"

// NoEtc is an [Etc] without files.
const NoEtc = "/nonexistent"

// SetEtc makes ibkit read the configuration files in a directory, in this process and in
// processes that it starts, so that no test depends on the host's files. TestMain calls it.
func SetEtc(dir string) { _ = os.Setenv(Etc, dir) } // the name and the value are valid
