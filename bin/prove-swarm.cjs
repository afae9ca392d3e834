#!/usr/bin/env node
require('./launch.cjs')('bin')
