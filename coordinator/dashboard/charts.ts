import { LRUCache } from 'lru-cache'
import { DASHBOARD_LIMITS } from './limits.js'

/** Line chart over the versions of a run. */
export interface LineChart {
  /** Unit of the values, shown at the axis. */
  readonly unit: string
  /** Upper bound of the axis; by default the axis ends at the largest value. */
  readonly most?: number
  /** The first version that is drawn. */
  readonly from: number
  /** A value for each version; null: unknown. The first series has the thickest line. */
  readonly series: readonly { readonly name: string; readonly values: readonly (number | null)[] }[]
}

/** Colours and width of a drawn chart. */
export interface ChartForm {
  readonly dark: boolean
  readonly width: keyof typeof SIZES
}

/** Pixels on screen, so that letters have their natural size: half a page, a whole page, a telephone. */
export const SIZES = {
  half: { width: 540, height: 280 },
  whole: { width: 1100, height: 300 },
  phone: { width: 360, height: 240 },
} as const
/** Columns of the legend. */
const LEGEND_COLUMNS = { half: 5, whole: 9, phone: 3 } as const
/** Colours that colour-blind readers can distinguish (Okabe and Ito, 2008), lighter ones on a dark background. */
const COLOURS = {
  light: ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#8a6d00', '#56b4e9', '#6b7280', '#882255', '#332288'],
  dark: ['#56b4e9', '#e69f00', '#2fc59b', '#e49fc4', '#f0e442', '#8ab4f8', '#9ca3af', '#ff8f8f', '#b39ddb'],
} as const
const INKS = {
  light: { text: '#3f4a56', line: '#d8dee6' },
  dark: { text: '#b6c2cf', line: '#38434f' },
} as const

/** Draws charts and caches the newest ones for other visitors. */
export interface ChartCache {
  /** @returns an SVG document */
  draw(chart: LineChart, form: ChartForm): Promise<string>
}

export function createChartCache(): ChartCache {
  const drawn = new LRUCache<string, Promise<string>>({ max: DASHBOARD_LIMITS.charts })
  return {
    draw(chart, form) {
      const name = JSON.stringify([chart, form])
      let svg = drawn.get(name)
      if (!svg) {
        svg = drawLines(chart, form)
        drawn.set(name, svg)
        // A failed drawing is tried again.
        svg.catch(() => drawn.delete(name))
      }
      return svg
    },
  }
}

async function drawLines({ unit, most, from, series }: LineChart, { dark, width }: ChartForm): Promise<string> {
  // ECharts has hundreds of modules, so it is loaded on first use.
  const { init } = await import('echarts')
  const size = SIZES[width]
  const chart = init(null, null, { renderer: 'svg', ssr: true, ...size })
  const { text, line } = dark ? INKS.dark : INKS.light
  const legend = series.length > 1
  const rows = legend ? Math.ceil(series.length / LEGEND_COLUMNS[width]) : 0
  const count = Math.max(...series.map(({ values }) => values.length))
  try {
    chart.setOption({
      animation: false,
      color: [...(dark ? COLOURS.dark : COLOURS.light)],
      textStyle: { fontFamily: 'system-ui, sans-serif', color: text },
      ...(legend
        ? {
            legend: {
              data: series.map(({ name }) => name),
              ...{ left: 8, right: 8, top: 4, itemGap: 14, itemWidth: 18, itemHeight: 8 },
              textStyle: { color: text, fontSize: 12 },
            },
          }
        : {}),
      grid: { left: 58, right: 16, top: 20 + 24 * rows, bottom: 42 },
      xAxis: {
        type: 'category',
        data: Array.from({ length: count }, (_, i) => String(from + i)),
        name: 'version',
        nameLocation: 'middle',
        nameGap: 26,
        axisLine: { lineStyle: { color: line } },
        axisTick: { show: false },
        axisLabel: { color: text },
      },
      yAxis: {
        type: 'value',
        name: unit,
        nameLocation: 'middle',
        nameGap: 42,
        scale: true,
        ...(most === undefined ? {} : { min: 0, max: most, interval: most / 4 }),
        splitNumber: 4,
        splitLine: { lineStyle: { color: line } },
        axisLabel: { color: text },
      },
      series: series.map(({ name, values }, i) => ({
        type: 'line',
        name,
        data: [...values],
        silent: true,
        connectNulls: true,
        showSymbol: count <= 30,
        symbol: 'circle',
        symbolSize: i === 0 ? 6 : 4,
        lineStyle: { width: i === 0 ? 2.5 : 1.5 },
      })),
    })
    return chart.renderToSVGString()
  } finally {
    chart.dispose()
  }
}
