/** The last two minutes or the last hour, in four small pictures. */
import { useEffect, useRef } from 'preact/hooks';
import UPlot from 'uplot';
// oxlint-disable-next-line import/no-unassigned-import -- a style is only loaded
import 'uplot/dist/uPlot.min.css';
import type { SeriesView } from '../api.ts';
import { bytes, milliseconds, rate } from './format.ts';
import { apiPath, useDocument } from './stream.ts';
import { place, setParam } from './url.ts';

type Field = 'requests' | 'errors' | 'bytesIn' | 'bytesOut' | 'p99Ms';

interface Picture {
  title: string;
  fields: readonly { field: Field; label: string; stroke: string }[];
  format: (value: number) => string;
}

const PICTURES: readonly Picture[] = [
  { title: 'Requests', fields: [{ field: 'requests', label: 'requests', stroke: '#2f81f7' }], format: rate },
  {
    title: 'Bytes',
    fields: [
      { field: 'bytesIn', label: 'in', stroke: '#2f81f7' },
      { field: 'bytesOut', label: 'out', stroke: '#bf6f00' },
    ],
    format: (value) => `${bytes(value)}/s`,
  },
  { title: 'Errors', fields: [{ field: 'errors', label: 'errors', stroke: '#d1242f' }], format: rate },
  { title: 'p99', fields: [{ field: 'p99Ms', label: 'p99', stroke: '#8250df' }], format: milliseconds },
];

/** Of one virtual cluster, or with '' of all. */
export function Charts({ cluster }: { cluster: string }) {
  const window = place.value.params['window'] === 'hour' ? 'hour' : 'minutes';
  const series = useDocument<SeriesView>(apiPath('series', { cluster, window }));
  return (
    <div>
      <label class="choice">
        Show{' '}
        <select value={window} onChange={(event) => setParam('window', event.currentTarget.value)}>
          <option value="minutes">the last two minutes</option>
          <option value="hour">the last hour</option>
        </select>
      </label>
      <div class="charts">
        {PICTURES.map((picture) => (
          <Chart key={picture.title} picture={picture} series={series ?? undefined} />
        ))}
      </div>
    </div>
  );
}

const HEIGHT = 120;

function Chart({ picture, series }: { picture: Picture; series: SeriesView | undefined }) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(undefined);
  useEffect(() => {
    const element = box.current!;
    const made = new UPlot(optionsOf(picture, element), [[]], element);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [picture]);
  useEffect(() => {
    if (series) plot.current?.setData([series.times, ...picture.fields.map(({ field }) => series[field])]);
  }, [series, picture]);
  const last = picture.fields.map(({ field, label }) => {
    const value = series?.[field].at(-1);
    const text = value === null || value === undefined ? 'none' : picture.format(value);
    return picture.fields.length > 1 ? `${label} ${text}` : text;
  });
  return (
    <figure>
      <figcaption>
        {picture.title}: {last.join(', ')}
      </figcaption>
      <div ref={box} role="img" aria-label={`${picture.title} over time; now ${last.join(', ')}`} />
    </figure>
  );
}

function optionsOf({ fields, format }: Picture, element: HTMLElement): UPlot.Options {
  const text = getComputedStyle(element).color;
  const grid = { stroke: '#8884', width: 1 };
  return {
    width: element.clientWidth || 260,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false },
    scales: { y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } },
    axes: [
      { stroke: text, grid, size: 28 },
      { stroke: text, grid, size: 64, values: (_, splits) => splits.map((value) => format(value)) },
    ],
    series: [{}, ...fields.map(({ label, stroke }) => ({ label, stroke, width: 2, fill: `${stroke}22` }))],
  };
}
