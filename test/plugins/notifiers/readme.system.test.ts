import { followGuide } from '../../kit/guide.ts'

followGuide({
  readme: 'plugins/notifiers/README.md',
  example: 'custom-notifier',
  tests: 7,
  plugin: 'notifier/status_file',
})
