/** Documents whose blocks of some languages a test of their own runs, with that test. */
export const claims: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'README.md': {
    sh: 'test/readme.system.test.ts',
    http: 'test/readme.system.test.ts',
    json: 'test/readme.system.test.ts',
  },
  'plugins/HOOKS.md': { ts: 'test/plugins/hooks-guide.system.test.ts' },
  'plugins/api-styles/README.md': { ts: 'test/plugins/api-styles/readme.system.test.ts' },
  'plugins/cli/README.md': { ts: 'test/plugins/cli/readme.system.test.ts' },
  'plugins/clients/CONNECT.md': {
    sh: 'test/documents/how-to.system.test.ts',
    http: 'test/documents/how-to.system.test.ts',
    ts: 'test/documents/how-to.system.test.ts',
  },
  'plugins/detectors/README.md': {
    sh: 'test/plugins/detectors/readme.system.test.ts',
    ts: 'test/plugins/detectors/readme.system.test.ts',
    text: 'test/plugins/detectors/readme.system.test.ts',
    yaml: 'test/plugins/detectors/readme.system.test.ts',
  },
  'plugins/export-formats/README.md': { ts: 'test/plugins/export-formats/readme.system.test.ts' },
  'plugins/import-formats/README.md': { ts: 'test/plugins/import-formats/readme.system.test.ts' },
  'plugins/mcp-checks/README.md': { ts: 'test/plugins/mcp-checks/readme.system.test.ts' },
  'plugins/mcp-result-checks/README.md': { ts: 'test/plugins/mcp-result-checks/readme.system.test.ts' },
  'plugins/mcp-transports/README.md': { ts: 'test/plugins/mcp-transports/readme.system.test.ts' },
  'plugins/mcp/GUIDE.md': { sh: 'test/documents/how-to.system.test.ts', json: 'test/documents/how-to.system.test.ts' },
  'plugins/notifiers/README.md': { ts: 'test/plugins/notifiers/readme.system.test.ts' },
  'plugins/policy/FIRST-BLOCK.md': { sh: 'test/documents/how-to.system.test.ts' },
  'plugins/replay/GUIDE.md': { sh: 'test/documents/how-to.system.test.ts' },
  'plugins/replay/sdk/README.md': { ts: 'test/sdk-package.system.test.ts' },
  'plugins/storage/README.md': { ts: 'test/plugins/storage/readme.system.test.ts' },
  'plugins/ui/README.md': { ts: 'test/plugins/ui/readme.system.test.ts' },
  'plugins/upstream-clients/README.md': { ts: 'test/plugins/upstream-clients/readme.system.test.ts' },
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
