import { followGuide } from '../../kit/guide.ts'

followGuide({
  readme: 'plugins/import-formats/README.md',
  example: 'custom-import-format',
  tests: 2,
  plugin: 'import-format/build_log',
})
