import { followGuide } from '../../kit/guide.ts'

followGuide({
  readme: 'plugins/export-formats/README.md',
  example: 'custom-export-format',
  tests: 5,
  plugin: 'export-format/chrome_trace',
})
