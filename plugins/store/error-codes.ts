import { errorCodes } from 'guard-gateway/core'
import { databaseErrors } from '#lib/errors'

export const storeErrors = {
  ...databaseErrors,
  ...errorCodes(400, 'invalid_request_error', {
    FILTER_UNSUPPORTED: [
      'The storage backend cannot serve this filter',
      'Leave the filter out, or use another backend.',
    ],
  }),
}
