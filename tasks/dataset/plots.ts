import type { EChartsOption } from 'echarts'

/** Bar chart with one bar, or several ones, per category. */
export interface BarChart {
  readonly title: string
  readonly categories: readonly string[]
  /** Label of the category axis. */
  readonly axis: string
  /** Label of the value axis. */
  readonly unit: string
  readonly series: readonly { readonly name: string; readonly values: readonly number[] }[]
  /** Draws categories from top to bottom, for many or long names. */
  readonly horizontal?: boolean
  /** Place of several bars of one category; default: stacked. */
  readonly layout?: 'stacked' | 'side-by-side'
}

const WIDTH = 760
const HEIGHT = 380
/** Height of one category of a horizontal chart. */
const ROW = 22
const FRAME = 130
/** Colours that colour-blind readers and prints distinguish (Okabe and Ito, 2008). */
const COLOURS = ['#0072b2', '#e69f00', '#999999', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#f0e442']
/** Height of one bar of a category with several. */
const BAR = 16

/** Draws a chart as an SVG document. The same chart gives the same bytes. */
export async function drawBars(bars: BarChart): Promise<string> {
  const { title, categories, axis, unit, series, horizontal = false, layout = 'stacked' } = bars
  const stacked = layout === 'stacked'
  // Loaded on demand: its 592 modules are a quarter of those that a coordinator loads, and a coordinator draws no plots.
  const { init } = await import('echarts')
  const row = stacked ? ROW : Math.max(ROW, 10 + BAR * series.length)
  const height = horizontal ? FRAME + row * categories.length : HEIGHT
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height })
  try {
    const legend = series.length > 1
    const category = {
      type: 'category' as const,
      data: [...categories],
      name: axis,
      nameLocation: horizontal ? ('start' as const) : ('middle' as const),
      nameGap: 30,
      inverse: horizontal,
      axisTick: { show: false },
      axisLabel: { interval: 0 },
    }
    const value = { type: 'value', name: unit, nameLocation: 'middle', nameGap: horizontal ? 28 : 52 } as const
    const options: EChartsOption = {
      animation: false,
      backgroundColor: '#ffffff',
      color: COLOURS,
      title: { text: title, left: 16, top: 10, textStyle: { fontSize: 15 } },
      ...(legend ? { legend: { data: series.map(({ name }) => name), left: 16, top: 38, itemGap: 40 } } : {}),
      grid: horizontal ? { left: 150, right: 50, top: 70, bottom: 50 } : { left: 80, right: 30, top: 60, bottom: 60 },
      xAxis: horizontal ? value : category,
      yAxis: horizontal ? category : value,
      series: series.map(({ name, values }) => ({
        type: 'bar',
        name,
        data: [...values],
        silent: true,
        emphasis: { disabled: true },
        barMaxWidth: 70,
        ...(legend && stacked ? { stack: 'all' } : { label: { show: true, position: horizontal ? 'right' : 'top' } }),
      })),
    }
    chart.setOption(options)
    return withStableNames(chart.renderToSVGString())
  } finally {
    chart.dispose()
  }
}

/** Renumbers ids and classes within the document, because echarts counts them per process. */
function withStableNames(svg: string): string {
  const names = new Map<string, string>()
  return `${svg.replaceAll(/\bzr\d+-[a-z]+(?:-?\d+)?/g, (name) => {
    const stable = names.get(name) ?? `n${names.size}`
    names.set(name, stable)
    return stable
  })}\n`
}
