//! Asks of recorded trials when they would have ended, had they been allowed to end once their mean is known.
//!
//! Reads text: of each trial a line `trial NAME HALF_WIDTH_PPM AT_LEAST_US OMIT_US INTERVAL_US AT_MOST_US SAMPLE_INTERVAL_US`, then
//! a line of each sample: nanoseconds since all flows run, and of each flow `arrived_bytes cwnd ssthresh ca_state rtt_us
//! retransmits delivered_ce`. Writes a line of each trial: `NAME HELD_BY COUNTED_FROM_US ENDED_US HALF_WIDTH_PPM`, `known` where
//! nothing held it.

use std::{
    error::Error,
    io::{self, BufRead},
    str::FromStr,
    time::Duration,
};

use traffic::known::{FlowLook, Rule};
use wire::Until;

type Anything = Box<dyn Error>;

/// Numbers that `TCP_INFO` has of one flow.
const FIELDS: usize = 7;

struct Replayed {
    name: String,
    until: Until,
    at_most: Duration,
    sample_interval: Duration,
    rule: Option<Rule>,
}

fn main() -> Result<(), Anything> {
    let mut replayed: Option<Replayed> = None;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        if let ["trial", name, times @ ..] = words.as_slice() {
            tell(replayed.take());
            replayed = Some(begin(name, times)?);
        } else if let (Some(trial), [at_ns, flows @ ..]) = (&mut replayed, words.as_slice()) {
            let looks: Vec<FlowLook> = flows.chunks_exact(FIELDS).map(look).collect::<Result<_, _>>()?;
            let Replayed { until, at_most, sample_interval, .. } = trial;
            let rule = trial.rule.get_or_insert_with(|| Rule::new(until, *at_most, *sample_interval, looks.len()));
            rule.look(at_ns.parse()?, &looks);
        }
    }
    tell(replayed);
    Ok(())
}

fn begin(name: &str, times: &[&str]) -> Result<Replayed, Anything> {
    let [half_width_ppm, at_least_us, omit_us, interval_us, at_most_us, sample_interval_us] = times else {
        return Err(format!("trial {name}: found {} numbers, expected 6", times.len()).into());
    };
    let until = Until {
        half_width_ppm: half_width_ppm.parse()?,
        at_least_us: at_least_us.parse()?,
        omit_us: omit_us.parse()?,
        interval_us: interval_us.parse()?,
    };
    let [at_most, sample_interval] = [at_most_us.parse()?, sample_interval_us.parse()?].map(Duration::from_micros);
    Ok(Replayed { name: name.into(), until, at_most, sample_interval, rule: None })
}

fn look(numbers: &[&str]) -> Result<FlowLook, Anything> {
    fn number<T: FromStr<Err: Error + 'static>>(text: &str) -> Result<T, Anything> {
        Ok(text.parse()?)
    }
    Ok(FlowLook {
        arrived_bytes: number(numbers[0])?,
        cwnd: number(numbers[1])?,
        ssthresh: number(numbers[2])?,
        ca_state: number(numbers[3])?,
        rtt_us: number(numbers[4])?,
        retransmits: number(numbers[5])?,
        delivered_ce: number(numbers[6])?,
    })
}

fn tell(replayed: Option<Replayed>) {
    let Some(Replayed { name, rule: Some(rule), .. }) = replayed else { return };
    let decided = rule.over();
    let held_by = decided.held_by.map_or("known".into(), |held_by| format!("{held_by:?}"));
    let half_width_ppm = decided.half_width_ppm.map_or("-".into(), |ppm| ppm.to_string());
    println!("{name} {held_by} {} {} {half_width_ppm}", decided.counted_from_us, decided.ended_us);
}
