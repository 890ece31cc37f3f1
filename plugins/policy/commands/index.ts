import type { Plugin } from 'guard-gateway/core'
import { APPROVER_FLAG } from 'guard-gateway/lib/approver'
import { commandKind } from 'guard-gateway/lib/command'
import { DEFAULT_PROJECT } from 'guard-gateway/lib/session'
import { simulateCommands } from '../simulate/command.ts'
import { applyPolicy } from './apply.ts'
import type { PolicyCommandOptions } from './command-context.ts'
import { listPresets } from './presets.ts'
import { showPolicy } from './show.ts'
import { suggestProjects } from './suggest.ts'

/** Gives the command line `policy show`, `policy apply` and `policy simulate`. */
export const policyCommands = (options: PolicyCommandOptions): Plugin => ({
  name: 'policy-commands',
  requires: ['policy'],
  apply(gateway) {
    gateway.registry(commandKind).add({
      id: 'policy show',
      args: '[project]',
      summary: 'show the rules of a project, or of all that have none of their own',
      example: ['guard policy show', 'guard policy show shop', 'guard policy show shop --json mode,rules'],
      suggestions: { project: () => options.asking(suggestProjects) },
      paged: true,
      page: ({ args }) => `/policies/${encodeURIComponent(args[0] ?? DEFAULT_PROJECT)}`,
      route: 'GET /api/policies/{project_id}',
      run: (input, io) => options.asking((ask) => showPolicy({ ask, input, io })),
    })
    gateway.registry(commandKind).add({
      id: 'policy apply',
      args: '[preset_or_file]',
      summary: 'set the rules of all projects, or of one, to a preset or a file; without one, list the presets',
      options: {
        '--project <id>': 'of this project alone; of every project that has none of its own if not said',
        '--mode <mode>': 'and its mode: shadow or enforce',
        '--since <time>':
          'try it on sessions since: an age such as 24h, today, yesterday, or a time; the newest 200 if not said',
        '--dry-run': 'only say what would change, and what that would have done to stored sessions',
        '--yes': 'apply without a question',
        ...APPROVER_FLAG,
      },
      choices: { '--mode': ['shadow', 'enforce'] },
      example: [
        'guard policy apply',
        'guard policy apply enforce-recommended --mode enforce',
        'guard policy apply rules.yml --project shop --dry-run',
      ],
      suggestions: {
        preset_or_file: async () => Object.entries(options.summaries).map(([value, meaning]) => ({ value, meaning })),
        '--project': () => options.asking(suggestProjects),
      },
      run: (input, io) =>
        input.args.length === 0
          ? Promise.resolve(listPresets(input, io, options))
          : options.asking((ask) => applyPolicy({ ask, input, io }, options)),
    })
    for (const command of simulateCommands(options)) gateway.registry(commandKind).add(command)
  },
})
