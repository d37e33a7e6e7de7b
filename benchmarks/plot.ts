/** The scale benchmark as pictures and tables. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type EChartsCoreOption, init, use } from "echarts/core";
import { LineChart } from "echarts/charts";
import { GridComponent, LegendComponent, TitleComponent } from "echarts/components";
import { SVGRenderer } from "echarts/renderers";
import type { ScaleBenchmark } from "./scale.js";

use([LineChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);

const WIDTH = 760;
const HEIGHT = 420;

type Point = [number, number];
type Line = [name: string, points: Point[]];

/** Both axes logarithmic: figures differ by factors of a thousand. */
function picture(title: string, x: string, y: string, lines: readonly Line[]): string {
  const axis = (name: string): Record<string, unknown> => ({
    type: "log",
    name,
    nameLocation: "middle",
    nameGap: 32,
  });
  const drawn = lines.filter(([, points]) => points.length > 0);
  const chart = init(null, null, { renderer: "svg", ssr: true, width: WIDTH, height: HEIGHT });
  const option: EChartsCoreOption = {
    animation: false,
    backgroundColor: "#ffffff",
    title: { text: title, left: "center", textStyle: { fontSize: 15 } },
    legend: { bottom: 0, width: 600, itemWidth: 18 },
    grid: { left: 70, right: 30, top: 45, bottom: 90 },
    xAxis: axis(x),
    yAxis: { ...axis(y), nameGap: 50 },
    series: drawn.map(([name, data]) => ({ type: "line", name, data, symbolSize: 7 })),
  };
  chart.setOption(option);
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}

/** SVG by file name. */
export function pictures({ sizes, children }: ScaleBenchmark): Record<string, string> {
  const bySize = (name: string, of: (size: ScaleBenchmark["sizes"][number]) => number | undefined): Line => [
    name,
    sizes.flatMap((size): Point[] => {
      const value = of(size);
      return value === undefined ? [] : [[size.golden_mib, value]];
    }),
  ];
  const byChildren = (kind: "soft" | "uffd", key: "ms" | "growth_mib"): Line => [
    kind,
    children.flatMap(({ children: count, memory }): Point[] => {
      const figures = memory[kind];
      return figures === undefined || typeof figures === "string" ? [] : [[count, figures[key]]];
    }),
  ];
  const milli = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms * 1000);
  return {
    "golden-size.svg": picture("A fork as its golden grows (medians)", "golden, MiB", "µs", [
      bySize("host fork, soft", ({ memory }) => memory.soft?.fork_us.p50),
      bySize("host fork, uffd", ({ memory }) => memory.uffd?.fork_us.p50),
      bySize("ready, soft", ({ memory }) => milli(memory.soft?.ready_ms.p50)),
      bySize("ready, uffd", ({ memory }) => milli(memory.uffd?.ready_ms.p50)),
      bySize("fork(2)", (size) => size.baseline.fork2_us.p50),
      bySize("fork(2), 2 MiB pages", (size) => size.baseline.fork2_huge_us.p50),
      bySize("plain copy", (size) => size.baseline.copy_us.p50),
    ]),
    "children.svg": picture("All children ready", "children", "ms", [
      byChildren("soft", "ms"),
      byChildren("uffd", "ms"),
    ]),
    "children-memory.svg": picture("Memory of the process with all children", "children", "MiB more", [
      byChildren("soft", "growth_mib"),
      byChildren("uffd", "growth_mib"),
    ]),
  };
}

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** The figures as Markdown. */
export function tables({ host, sizes, children }: ScaleBenchmark): string {
  const both = (spread: { p50: number; p99: number } | undefined): string =>
    spread === undefined ? "-" : `${spread.p50} / ${spread.p99}`;
  const cell = (
    figures: ScaleBenchmark["children"][number]["memory"]["soft"],
    of: (known: { ms: number; growth_mib: number; kib_per_child: number }) => number,
  ): string | number => (figures === undefined ? "-" : typeof figures === "string" ? figures : of(figures));
  return [
    `${String(host["cpu"])}, ${String(host["cores"])} cores, ${String(host["platform"])}, Node ${String(host["node"])}. Written by \`shinken bench scale --write\`; p50 / p99.`,
    "",
    table(
      [
        "golden, MiB",
        "fork soft, µs",
        "fork uffd, µs",
        "ready soft, ms",
        "ready uffd, ms",
        "fork(2), µs",
        "fork(2) with 2 MiB pages, µs",
        "copy, µs",
      ],
      sizes.map(({ golden_mib, memory, baseline }) => [
        golden_mib,
        both(memory.soft?.fork_us),
        both(memory.uffd?.fork_us),
        both(memory.soft?.ready_ms),
        both(memory.uffd?.ready_ms),
        both(baseline.fork2_us),
        both(baseline.fork2_huge_us),
        both(baseline.copy_us),
      ]),
    ),
    "",
    table(
      [
        "children",
        "ready soft, ms",
        "ready uffd, ms",
        "MiB more, soft",
        "MiB more, uffd",
        "KiB of its own each, soft",
        "KiB of its own each, uffd",
      ],
      children.map(({ children: count, memory }) => [
        count,
        cell(memory.soft, (known) => known.ms),
        cell(memory.uffd, (known) => known.ms),
        cell(memory.soft, (known) => known.growth_mib),
        cell(memory.uffd, (known) => known.growth_mib),
        cell(memory.soft, (known) => known.kib_per_child),
        cell(memory.uffd, (known) => known.kib_per_child),
      ]),
    ),
    "",
  ].join("\n");
}

/** Writes the report, its tables and its pictures to a folder. */
export function write(report: ScaleBenchmark, folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "scale.json"), `${JSON.stringify(report, null, 2)}\n`);
  writeFileSync(join(folder, "scale.md"), `# Scale\n\n${tables(report)}`);
  for (const [name, svg] of Object.entries(pictures(report))) writeFileSync(join(folder, name), svg);
}
