package main

func benchVerb() verb { return verb{name: "bench", run: func(*stage, []string) error { return nil }} }
