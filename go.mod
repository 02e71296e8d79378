module github.com/ibkit/ibkit

go 1.26
