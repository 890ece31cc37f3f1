import type { Gateway, Plugin } from 'guard-gateway/core'
import { type Command, commandKind } from 'guard-gateway/lib/command'
import type { ReplayCommandOptions } from './commands/command-options.ts'

/** Adds the `replay` commands. They use the running gateway, or its storage if none runs. */
export const replayCommands = (options: ReplayCommandOptions): Plugin => ({
  name: 'replay-commands',
  requires: ['replay'],
  apply(gateway) {
    for (const command of commands(gateway, options)) gateway.registry(commandKind).add(command)
  },
})

const commands = ({ clock }: Pick<Gateway, 'clock'>, options: ReplayCommandOptions): readonly Command[] => [
  {
    id: 'replay list',
    summary: 'list runs, newest first',
    options: {
      '--project <id>': 'of this project',
      '--session <id>': 'of this session',
      '--agent <name>': 'of this agent: its id or its name',
      '--status <words>': 'with one of these statuses, separated by commas',
      '--tag <tag>': 'with this tag',
      '--pinned': 'pinned ones alone',
      '--since <time>': 'begun since: an age such as 24h, or a time',
      '--query <words>': 'that hold these words',
      '--limit <number>': 'so many at most; 20 if not said',
      '--cursor <cursor>': 'behind those that were listed with this cursor',
    },
    example: 'guard replay list --status error --since 24h',
    run: async (input, io) => (await import('./commands/list.ts')).listRuns(options, input, io),
  },
  {
    id: 'replay show',
    args: '<trace_id>',
    summary: 'show the spans of a run as a tree over its time',
    options: {
      '--spans <names>': 'these alone with what is below them: names or name#n, separated by commas',
      '--events': 'the events too, each at its instant',
      '--width <columns>': 'so wide, from 60; the terminal if not said',
    },
    example: 'guard replay show 6f1c0c7e9b2a4d18a3f0c5d2e1b49a77 --spans tool.call#2 --events',
    run: async (input, io) => (await import('./commands/show.ts')).showRun(options, input, io),
  },
  {
    id: 'replay compare',
    args: '<left> <right>',
    summary: 'set two runs side by side: where they part, totals, then span by span',
    options: {
      '--only-changed': 'without the spans that ended alike in both',
      '--align <how>': 'sequence, name or label; sequence if not said, in which an extra step shifts no other',
      '--all': 'every span on a line of its own, also what repeats',
    },
    choices: { '--align': ['sequence', 'name', 'label'] },
    example: 'guard replay compare run-1 run-2 --only-changed',
    run: async (input, io) => (await import('./commands/compare.ts')).compareRuns(options, input, io),
  },
  {
    id: 'replay tail',
    summary: 'print runs and decisions as they are stored, until interrupted',
    options: {
      '--project <id>': 'of this project',
      '--session <id>': 'of this session',
      '--decisions': 'decisions alone',
      '--since <time>': 'and first what began since: an age such as 15m, or a time',
    },
    example: 'guard replay tail --decisions --project shop',
    run: async (input, io) => (await import('./commands/tail.ts')).tailRuns(clock, options, input, io),
  },
  {
    id: 'replay pin',
    args: '<trace_id>',
    summary: 'keep a run however old it becomes',
    example: 'guard replay pin 6f1c0c7e9b2a4d18a3f0c5d2e1b49a77',
    run: async (input, io) => (await import('./commands/pin.ts')).pinRun(options, input, io, true),
  },
  {
    id: 'replay unpin',
    args: '<trace_id>',
    summary: 'let a run go when its time comes',
    example: 'guard replay unpin 6f1c0c7e9b2a4d18a3f0c5d2e1b49a77',
    run: async (input, io) => (await import('./commands/pin.ts')).pinRun(options, input, io, false),
  },
  {
    id: 'replay export',
    args: '<trace_id>',
    summary: 'write a run to a file, or to stdout',
    options: {
      '--format <format>': 'json, jsonl or otel; json if not said',
      '--output <file>': 'write here instead of stdout',
      '--force': 'replace the file if it exists',
    },
    choices: { '--format': ['json', 'jsonl', 'otel'] },
    example: 'guard replay export 6f1c0c7e9b2a4d18a3f0c5d2e1b49a77 --format otel --output run.json',
    run: async (input, io) => (await import('./commands/export.ts')).exportRun(options, input, io),
  },
  {
    id: 'replay import',
    args: '<file>',
    summary: 'take in runs that were exported, from json, jsonl or otel; - is what comes in',
    options: {
      '--on-conflict <how>': 'remap (a new trace id), skip or fail where a run exists; remap if not said',
      '--project <id>': 'give the runs this project',
      '--dry-run': 'say what would be imported, and import nothing',
    },
    choices: { '--on-conflict': ['remap', 'skip', 'fail'] },
    example: 'guard replay import run.json --on-conflict skip',
    run: async (input, io) => (await import('./commands/import.ts')).importFile(options, input, io),
  },
]
