import { constants, monitorEventLoopDelay, PerformanceObserver, performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import type { Meter } from '@opentelemetry/api';

const SECONDS_PER_NANOSECOND = 1e-9;
const GC_KINDS: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb',
};

/**
 * What Node knows of itself: processor, memory, garbage collection, event loop. By hand, because the package made for
 * it brings the whole machinery that patches modules. Names are those of the semantic conventions.
 */
export function measureRuntime(meter: Meter): Disposable {
  measureProcess(meter);
  const delay = measureEventLoop(meter);
  const collections = measureGarbageCollection(meter);
  return {
    [Symbol.dispose]() {
      delay.disable();
      collections.disconnect();
    },
  };
}

function measureProcess(meter: Meter): void {
  meter
    .createObservableCounter('process.cpu.time', { unit: 's', description: 'Processor time used.' })
    .addCallback((result) => {
      const { user, system } = process.cpuUsage();
      result.observe(user / 1e6, { 'cpu.mode': 'user' });
      result.observe(system / 1e6, { 'cpu.mode': 'system' });
    });
  meter
    .createObservableGauge('process.memory.usage', {
      unit: 'By',
      description: 'Memory in use (resident set).',
    })
    .addCallback((result) => result.observe(process.memoryUsage.rss()));
  meter
    .createObservableGauge('process.uptime', { unit: 's', description: 'Time since the start.' })
    .addCallback((result) => result.observe(process.uptime()));
  const used = meter.createObservableGauge('v8js.memory.heap.used', {
    unit: 'By',
    description: 'Heap in use, by space.',
  });
  const size = meter.createObservableGauge('v8js.memory.heap.limit', {
    unit: 'By',
    description: 'Heap taken from the system, by space.',
  });
  meter.addBatchObservableCallback(
    (result) => {
      for (const space of getHeapSpaceStatistics()) {
        const labels = { 'v8js.heap.space.name': space.space_name };
        result.observe(used, space.space_used_size, labels);
        result.observe(size, space.space_size, labels);
      }
    },
    [used, size],
  );
}

function measureEventLoop(meter: Meter): { disable(): boolean } {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const gauge = (name: string, description: string, unit = 's') =>
    meter.createObservableGauge(`nodejs.eventloop.${name}`, { unit, description });
  const mean = gauge('delay.mean', 'Mean delay of the event loop since the last look.');
  const p50 = gauge('delay.p50', 'Median delay of the event loop since the last look.');
  const p99 = gauge('delay.p99', '99th percentile of the delay of the event loop since the last look.');
  const max = gauge('delay.max', 'Longest delay of the event loop since the last look.');
  const utilization = gauge('utilization', 'Share of the time the event loop was busy.', '1');
  let before = performance.eventLoopUtilization();
  meter.addBatchObservableCallback(
    (result) => {
      // Nothing was recorded yet: the mean of nothing is no number.
      if (delay.count > 0) {
        result.observe(mean, delay.mean * SECONDS_PER_NANOSECOND);
        result.observe(p50, delay.percentile(50) * SECONDS_PER_NANOSECOND);
        result.observe(p99, delay.percentile(99) * SECONDS_PER_NANOSECOND);
        result.observe(max, delay.max * SECONDS_PER_NANOSECOND);
        delay.reset();
      }
      const now = performance.eventLoopUtilization();
      result.observe(utilization, performance.eventLoopUtilization(now, before).utilization);
      before = now;
    },
    [mean, p50, p99, max, utilization],
  );
  return delay;
}

function measureGarbageCollection(meter: Meter): PerformanceObserver {
  const duration = meter.createHistogram('v8js.gc.duration', {
    unit: 's',
    description: 'Garbage collections, by kind.',
    advice: { explicitBucketBoundaries: [0.01, 0.1, 1, 10] },
  });
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { duration: milliseconds, detail } = entry as typeof entry & { detail: { kind: number } };
      duration.record(milliseconds / 1000, { 'v8js.gc.type': GC_KINDS[detail.kind] ?? 'other' });
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  return observer;
}
