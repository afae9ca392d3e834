#!/usr/bin/env node
require('./launch.cjs')('servers/episodes')
