/** One measured number, except the time of a repeated operation. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: 'ms' | 'µs' | 'MB' | 'MB/s' | 'spans/s'
}

export const figure = (name: string, value: number, unit: Figure['unit']): Figure => ({ name, value, unit })
