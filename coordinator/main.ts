#!/usr/bin/env node
import { Command } from 'commander'
import { addSynthesizeCommand } from './synthesize-command.js'

const program = new Command('prove-coordinator').description('Run a PROVE training swarm')
addSynthesizeCommand(program)
await program.parseAsync()
