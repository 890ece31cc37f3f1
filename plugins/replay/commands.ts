import { failureTags, type Gateway, type Plugin } from 'guard-gateway/core'
import { type Command, commandKind, type Input, type Suggestion } from '#lib/command'
import { steps } from '#lib/time'
import { sorts, statuses } from './api/filters.ts'
import type { ReplayCommandOptions } from './commands/command-options.ts'
import { FILTERS, queryOf } from './commands/list-query.ts'
import type { RunSuggestions } from './commands/suggest.ts'
import { groups, subjects } from './stats/query.ts'

/** Adds the `replay` commands. They use the running gateway, or its storage if none runs. */
export const replayCommands = (options: ReplayCommandOptions): Plugin => ({
  name: 'replay-commands',
  requires: ['replay'],
  apply(gateway) {
    for (const command of commands(gateway, options)) gateway.registry(commandKind).add(command)
  },
})

const commands = ({ clock }: Pick<Gateway, 'clock'>, options: ReplayCommandOptions): readonly Command[] => {
  const suggest = (kind: keyof RunSuggestions) => async (): Promise<readonly Suggestion[]> => {
    const { suggestFrom } = await import('./commands/suggest.ts')
    return options.asking((ask) => suggestFrom(ask, kind, clock.now()))
  }
  const runPage = async ({ args }: Input): Promise<string> =>
    (await import('./commands/run-id.ts')).runPage(options, args)
  return [
    {
      id: 'prices',
      args: '[model]',
      summary: 'say which price file is used, how old it is, and which models on record have no price',
      suggestions: {
        model: async () => {
          const { suggestModels } = await import('./commands/suggest.ts')
          return options.asking(suggestModels)
        },
      },
      example: ['guard prices', 'guard prices us.anthropic.claude-opus-5-5'],
      paged: true,
      route: 'GET /api/v1/prices',
      run: async (input, io) => (await import('./commands/prices.ts')).showPrices(options, input, io),
    },
    {
      id: 'replay list',
      summary: 'list runs, newest first',
      options: {
        '--project <id>': 'of this project',
        '--session <id>': 'of this session',
        '--agent <name>': 'of this agent: its id or its name',
        '--model <name>': 'with requests to this model',
        '--status <words>': 'with one of these statuses, separated by commas',
        '--failure <tags>': `with one of these failures, separated by commas: ${failureTags.join(', ')}; or any, or none`,
        '--tag <tag>': 'with this tag',
        '--attribute <test...>':
          'that have an attribute: name, or name=value; also != > >= < <=, and ~ for a part; may be repeated',
        '--noise': 'other programs’ telemetry without any call of a model or tool too',
        '--pinned': 'pinned ones alone',
        '--since <time>': 'begun since: today, yesterday, an age such as 24h, or a time',
        '--until <time>': 'and begun before then',
        '--query <words>': 'that hold these words',
        '--sort <by>': `the greatest first by ${sorts.join(', ')}; by recorded if not said`,
        '--limit <number>': 'so many at most; 20 if not said',
        '--cursor <cursor>': 'after those listed with this cursor',
      },
      choices: { '--status': statuses, '--failure': ['any', 'none', ...failureTags], '--sort': sorts },
      suggestions: {
        '--project': suggest('projects'),
        '--session': suggest('sessions'),
        '--agent': suggest('agents'),
        '--model': async () => {
          const { suggestModels } = await import('./commands/suggest.ts')
          return options.asking(suggestModels)
        },
      },
      example: [
        'guard replay list --failure loop --since yesterday',
        'guard replay list --agent nightly-fixer --sort cost',
        "guard replay list --attribute 'http.response.status_code>=500' --since 24h",
        'guard replay list --status error --json trace_id,name,cost_micro',
      ],
      paged: true,
      page: (input) => `/replay?${queryOf(input, FILTERS)}`.replace(/\?$/, ''),
      route: 'GET /api/v1/runs',
      run: async (input, io) => (await import('./commands/list.ts')).listRuns(options, input, io, clock.now()),
    },
    {
      id: 'replay show',
      args: '<trace_id>',
      summary: 'show the spans of a run as a tree over its time',
      options: {
        '--spans <names>': 'these alone with what is below them: names or name#n, separated by commas',
        '--events': 'the events too, each at its instant',
        '--use': 'its models, tools and commands instead: calls, errors, durations, tokens and cost',
        '--limit <number>': 'so many lines at most, 0 for all; 1000 if not said',
        '--width <columns>': 'so wide, from 60; the terminal if not said',
      },
      suggestions: { trace_id: suggest('runs') },
      example: [
        'guard replay show 6f1c0c7e9b2a',
        'guard replay show 6f1c0c7e9b2a --spans tool.call#2 --events',
        'guard replay show 6f1c0c7e9b2a --use',
        'guard replay show 6f1c0c7e9b2a --web',
      ],
      paged: true,
      page: runPage,
      route: 'GET /api/v1/runs/{trace_id}',
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
        '--attributes': 'below each span the attributes that differ, with both values',
      },
      choices: { '--align': ['sequence', 'name', 'label'] },
      suggestions: { left: suggest('runs'), right: suggest('runs') },
      example: ['guard replay compare run-1 run-2', 'guard replay compare run-1 run-2 --only-changed'],
      paged: true,
      page: async ({ args }) => (await import('./commands/run-id.ts')).comparePage(options, args),
      route: 'POST /api/v1/compare',
      run: async (input, io) => (await import('./commands/compare.ts')).compareRuns(options, input, io),
    },
    {
      id: 'replay stats',
      summary: 'sums and percentiles of runs, or of the calls in them: tokens, cost, failures, durations',
      options: {
        '--of <what>': `${subjects.join(', ')}; runs if not said`,
        '--by <group>': `a line for each ${groups.filter((name) => name !== 'none').join(', ')}, or attribute:NAME; the name of a call is its model, tool or command`,
        '--step <step>': `and for each ${steps.filter((name) => name !== 'whole').join(', ')}`,
        '--time-zone <zone>': 'where days begin, such as Europe/Berlin; UTC if not said',
        '--project <id>': 'of this project',
        '--session <id>': 'of this session',
        '--agent <name>': 'of this agent: its id or its name',
        '--model <name>': 'runs with requests to this model',
        '--status <words>': 'runs with one of these statuses, separated by commas',
        '--failure <tags>': `runs with one of these failures, separated by commas: ${failureTags.join(', ')}; or any, or none`,
        '--tag <tag>': 'runs with this tag',
        '--attribute <test...>': 'runs that have an attribute, as in replay list',
        '--since <time>': 'runs that began since: today, yesterday, an age such as 24h, or a time; 24h if not said',
        '--until <time>': 'and before then',
        '--query <words>': 'runs that hold these words',
      },
      choices: {
        '--of': subjects,
        '--by': groups,
        '--step': steps,
        '--status': statuses,
        '--failure': ['any', 'none', ...failureTags],
      },
      suggestions: {
        '--project': suggest('projects'),
        '--session': suggest('sessions'),
        '--agent': suggest('agents'),
      },
      example: [
        'guard replay stats --of tools --by name --since 7d',
        'guard replay stats --of models --by name --step day --since 7d --project shop',
        'guard replay stats --by attribute:resource.deployment.environment',
      ],
      paged: true,
      route: 'GET /api/v1/stats',
      run: async (input, io) => (await import('./commands/stats.ts')).showStats(options, input, io),
    },
    {
      id: 'replay tail',
      summary: 'print runs and decisions as they are stored, until interrupted',
      options: {
        '--project <id>': 'of this project',
        '--session <id>': 'of this session',
        '--decisions': 'decisions alone',
        '--since <time>': 'and first what began since: today, yesterday, an age such as 15m, or a time',
      },
      suggestions: { '--project': suggest('projects'), '--session': suggest('sessions') },
      example: ['guard replay tail', 'guard replay tail --decisions --project shop --since 15m'],
      run: async (input, io) => (await import('./commands/tail.ts')).tailRuns(clock, options, input, io),
    },
    {
      id: 'replay pin',
      args: '<trace_id>',
      summary: 'keep a run however old it becomes',
      suggestions: { trace_id: suggest('runs') },
      example: ['guard replay pin 6f1c0c7e9b2a', 'guard replay list --pinned'],
      run: async (input, io) => (await import('./commands/pin.ts')).pinRun(options, input, io, true),
    },
    {
      id: 'replay unpin',
      args: '<trace_id>',
      summary: 'let a run go when its time comes',
      suggestions: { trace_id: suggest('pinned') },
      example: ['guard replay list --pinned', 'guard replay unpin 6f1c0c7e9b2a'],
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
      suggestions: { trace_id: suggest('runs') },
      example: [
        'guard replay export 6f1c0c7e9b2a --output run.json',
        'guard replay export 6f1c0c7e9b2a --format otel --output run.json',
      ],
      run: async (input, io) => (await import('./commands/export.ts')).exportRun(options, input, io),
    },
    {
      id: 'replay import',
      args: '<...files>',
      summary: 'take in runs from files and folders: exports, sessions of agents, traces; - is what comes in',
      options: {
        '--on-conflict <how>':
          'remap (a new trace id), skip or fail where a run exists; if not said, remap, and skip for a folder',
        '--project <id>': 'give the runs this project',
        '--dry-run': 'say what would be imported, and import nothing',
      },
      choices: { '--on-conflict': ['remap', 'skip', 'fail'] },
      suggestions: { '--project': suggest('projects') },
      example: [
        'guard replay import run.json',
        'guard replay import run.json --on-conflict skip --dry-run',
        'guard replay import ~/.claude/projects ~/.codex/sessions',
        'curl -s https://example.com/run.json | guard replay import -',
      ],
      route: 'POST /api/v1/runs/import',
      run: async (input, io) => (await import('./commands/import.ts')).importFile(options, input, io),
    },
  ]
}
