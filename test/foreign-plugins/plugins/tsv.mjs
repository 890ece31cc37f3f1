import { exportFormat } from 'guard-gateway/lib/export-format'

export const tsv = exportFormat({
  id: 'tsv',
  mediaType: 'text/tab-separated-values',
  extension: 'tsv',
  writer: () => ({
    begin: () => 'kind\tname\n',
    span: ({ kind, name }) => `${kind}\t${name}\n`,
    event: ({ name }) => `event\t${name}\n`,
    artifact: () => '',
    end: () => '',
  }),
})
