/** Documents whose blocks of some languages a test of their own runs, with that test. */
export const claims: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'README.md': { sh: 'test/readme.test.ts', http: 'test/readme.test.ts', json: 'test/readme.test.ts' },
  'plugins/HOOKS.md': { ts: 'test/plugins/hooks-guide.test.ts' },
  'plugins/api-styles/README.md': { ts: 'test/plugins/api-styles/readme.test.ts' },
  'plugins/cli/README.md': { ts: 'test/plugins/cli/readme.test.ts' },
  'plugins/clients/CONNECT.md': {
    sh: 'test/documents/how-to.test.ts',
    http: 'test/documents/how-to.test.ts',
    ts: 'test/documents/how-to.test.ts',
  },
  'plugins/detectors/README.md': {
    sh: 'test/plugins/detectors/readme.test.ts',
    ts: 'test/plugins/detectors/readme.test.ts',
    text: 'test/plugins/detectors/readme.test.ts',
    yaml: 'test/plugins/detectors/readme.test.ts',
  },
  'plugins/export-formats/README.md': { ts: 'test/plugins/export-formats/readme.test.ts' },
  'plugins/import-formats/README.md': { ts: 'test/plugins/import-formats/readme.test.ts' },
  'plugins/mcp-checks/README.md': { ts: 'test/plugins/mcp-checks/readme.test.ts' },
  'plugins/mcp-result-checks/README.md': { ts: 'test/plugins/mcp-result-checks/readme.test.ts' },
  'plugins/mcp-transports/README.md': { ts: 'test/plugins/mcp-transports/readme.test.ts' },
  'plugins/mcp/GUIDE.md': { sh: 'test/documents/how-to.test.ts', json: 'test/documents/how-to.test.ts' },
  'plugins/notifiers/README.md': { ts: 'test/plugins/notifiers/readme.test.ts' },
  'plugins/policy/FIRST-BLOCK.md': { sh: 'test/documents/how-to.test.ts' },
  'plugins/replay/GUIDE.md': { sh: 'test/documents/how-to.test.ts' },
  'plugins/replay/sdk/README.md': { ts: 'test/sdk-package.test.ts' },
  'plugins/storage/README.md': { ts: 'test/plugins/storage/readme.test.ts' },
  'plugins/ui/README.md': { ts: 'test/plugins/ui/readme.test.ts' },
  'plugins/upstream-clients/README.md': { ts: 'test/plugins/upstream-clients/readme.test.ts' },
}

/** Documents whose commands are not run but looked at, word by word, with the reason. */
export const notRun: Readonly<Record<string, string>> = {
  'examples/run-for-good/README.md': 'they start services; the files of that folder have tests of their own',
  'bench/README.md': 'each takes minutes; their flags are read as the bench reads them',
  'examples/scale-out/README.md': 'they start containers; the files of that folder have tests of their own',
  'plugins/access/README.md': 'they are for the machines of a team',
  'plugins/replay/mcp/README.md': 'they change the configuration of Claude Code',
}

/** How blocks of a language are validated wherever they stand. */
export const validated: ReadonlySet<string> = new Set(['yaml', 'json', 'nginx', 'text', ''])
