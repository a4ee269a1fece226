//! What a trial tells of its host.

use std::{net::UdpSocket, time::Instant};

use arrow_array::{Int32Array, Int64Array, RecordBatch, StringArray};
use wire::{Report, Role, TcpSettings};

use crate::{
    ends::{End, Tables, column},
    support::{connect, listen, settings},
};

#[test]
fn rows_of_threads_add_up_to_what_the_flows_report() {
    let tcp = TcpSettings { duration_us: 1_000_000, ..settings(3) };
    for (report, tables) in run(&tcp) {
        let cpu = &tables["cpu"];
        assert_eq!(report.table_rows["cpu"], cpu.iter().map(|batch| batch.num_rows() as u64).sum::<u64>());
        for flow in &report.flows {
            let reported = flow.cpu.user_us + flow.cpu.system_us;
            let rows = rows_of(cpu, "thread", flow.flow.cast_signed());
            let measured: i64 = rows.iter().map(|row| row.busy_us).sum();
            // The report leaves out what a thread does before the first byte and after the last.
            let measured = u64::try_from(measured).unwrap();
            assert!(measured >= reported, "{measured} of {reported} us");
            assert!(measured <= reported + reported / 10 + 20_000, "{measured} of {reported} us");
            assert!(rows.windows(2).all(|pair| pair[0].end_ns == pair[1].start_ns));
            assert!(rows.len() >= 3, "{} rows in a second", rows.len());
        }
        assert!(!rows_of(cpu, "thread", -1).is_empty());
        assert!(rows_of(cpu, "core", 0).iter().map(|row| row.busy_us).sum::<i64>() > 0);
    }
}

#[test]
fn counters_of_the_host_rise() {
    for (report, _) in run(&settings(1)) {
        for name in ["Tcp.OutSegs", "IpExt.OutOctets", "lo.rx_bytes", "softnet.processed"] {
            assert!(report.counters.get(name).is_some_and(|rise| *rise > 0), "{name} in {:?}", report.counters);
        }
        assert!(!report.counters.contains_key("Tcp.CurrEstab"));
    }
}

#[test]
fn what_happens_before_the_start_is_counted() {
    let tcp = settings(1);
    let sink = End::begin(listen(Role::Sink, tcp.clone()));
    let source = End::begin(connect(Role::Source, "127.0.0.1", sink.listening_port(), tcp));
    source.connected();
    sink.connected();
    let nobody = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    UdpSocket::bind("127.0.0.1:0").unwrap().send_to(b"?", nobody).unwrap();
    source.control.start(Instant::now());
    for end in [source, sink] {
        let counters = end.report().0.counters;
        assert!(counters.contains_key("Udp.NoPorts"), "{counters:?}");
    }
}

#[test]
fn bbr_tells_its_bandwidth_at_the_source_alone() {
    let available = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
    for name in ["bbr", "reno"] {
        if !available.split_whitespace().any(|available| available == name) {
            continue;
        }
        let ends = run(&TcpSettings { congestion: Some(name.into()), ..settings(1) });
        let [source, sink] = ends.each_ref().map(bandwidths);
        assert_eq!(source.iter().flatten().any(|bandwidth| *bandwidth > 0), name == "bbr");
        assert!(sink.iter().all(Option::is_none));
    }
}

fn bandwidths((_, tables): &(Report, Tables)) -> Vec<Option<i64>> {
    tables["samples"]
        .iter()
        .flat_map(|batch| column::<Int64Array>(batch, "bbr_bw_bytes_per_s").iter().collect::<Vec<_>>())
        .collect()
}

struct Row {
    start_ns: i64,
    end_ns: i64,
    busy_us: i64,
}

fn rows_of(cpu: &[RecordBatch], kind: &str, id: i32) -> Vec<Row> {
    let rows = cpu.iter().flat_map(|batch| {
        let (kinds, ids): (StringArray, Int32Array) = (column(batch, "kind"), column(batch, "id"));
        let [start, end, busy]: [Int64Array; 3] = ["start_ns", "end_ns", "busy_us"].map(|name| column(batch, name));
        (0..batch.num_rows()).filter_map(move |row| {
            let wanted = kinds.value(row) == kind && ids.value(row) == id;
            let (start_ns, end_ns, busy_us) = (start.value(row), end.value(row), busy.value(row));
            wanted.then_some(Row { start_ns, end_ns, busy_us })
        })
    });
    rows.collect()
}

/// What source and sink of a trial over loopback reported.
fn run(tcp: &TcpSettings) -> [(Report, Tables); 2] {
    let sink = End::begin(listen(Role::Sink, tcp.clone()));
    let source = End::begin(connect(Role::Source, "127.0.0.1", sink.listening_port(), tcp.clone()));
    source.connected();
    sink.connected();
    source.control.start(Instant::now());
    [source, sink].map(End::report)
}
