//! How long CPU quotas kept the engine from running: `cpu.stat` of its control group and of those around it.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The control groups whose quota holds for this process, and what they had counted when it was looked first.
#[derive(Debug, Default)]
pub struct Throttle {
    groups: Vec<(PathBuf, u64)>,
}

impl Throttle {
    /// Looks now.
    #[must_use]
    pub fn begin() -> Self {
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        Self::of(&text("/proc/self/mountinfo"), &text("/proc/self/cgroup"))
    }

    fn of(mountinfo: &str, cgroup: &str) -> Self {
        let files = stat_files(mountinfo, cgroup).into_iter();
        Self { groups: files.filter_map(|file| throttled_us(&file).map(|before| (file, before))).collect() }
    }

    /// How long it was since then, in microseconds: of the group that was held back most, over all CPUs. `None` where
    /// no group counts it.
    #[must_use]
    pub fn risen_us(&self) -> Option<u64> {
        let rise = |(file, before): &(PathBuf, u64)| throttled_us(file).map(|now| now.saturating_sub(*before));
        self.groups.iter().filter_map(rise).max()
    }
}

/// The files of the process's own group and of all around it, in version 2 and in version 1 of control groups
/// (`cgroups(7)`, `proc_pid_mountinfo(5)`).
fn stat_files(mountinfo: &str, cgroup: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in mountinfo.lines() {
        let Some((place, kind)) = line.split_once(" - ") else { continue };
        let place: Vec<&str> = place.split(' ').collect();
        let kind: Vec<&str> = kind.split(' ').collect();
        let (Some(root), Some(mount)) = (place.get(3), place.get(4)) else { continue };
        let group = match kind.first() {
            Some(&"cgroup2") => group_of(cgroup, str::is_empty),
            Some(&"cgroup") if kind.last().is_some_and(|options| has_cpu(options)) => group_of(cgroup, has_cpu),
            _ => None,
        };
        let Some(group) = group else { continue };
        let inside = Path::new(group).strip_prefix(root).unwrap_or(Path::new(""));
        let folder = Path::new(mount).join(inside);
        let around = folder.ancestors().take_while(|folder| folder.starts_with(mount));
        files.extend(around.map(|folder| folder.join("cpu.stat")));
    }
    files
}

/// The group whose line of `/proc/self/cgroup` (`number:controllers:group`) has these controllers.
fn group_of(cgroup: &str, wanted: impl Fn(&str) -> bool) -> Option<&str> {
    let mut lines = cgroup.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
    lines.find(|(controllers, _)| wanted(controllers)).map(|(_, group)| group)
}

fn has_cpu(words: &str) -> bool {
    words.split(',').any(|word| word == "cpu")
}

/// `throttled_usec` of version 2, or `throttled_time` of version 1, which is in nanoseconds.
fn throttled_us(file: &Path) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| match line.split_once(' ')? {
        ("throttled_usec", microseconds) => microseconds.trim().parse().ok(),
        ("throttled_time", nanoseconds) => nanoseconds.trim().parse::<u64>().ok().map(|time_ns| time_ns / 1000),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn write(&self, group: &str, text: &str) {
            let folder = self.0.path().join(group);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("cpu.stat"), text).unwrap();
        }

        fn mountinfo(&self, root: &str, kind: &str) -> String {
            let mount = self.0.path().display();
            format!("22 1 0:5 / /proc rw - proc proc rw\n30 23 0:26 {root} {mount} rw,nosuid shared:4 - {kind}\n")
        }
    }

    #[test]
    fn the_group_that_is_held_back_most_counts() {
        let tree = Tree::new();
        tree.write("", "usage_usec 5\n");
        tree.write("pod", "usage_usec 5\nnr_throttled 2\nthrottled_usec 1000\n");
        tree.write("pod/box", "usage_usec 5\nnr_throttled 0\nthrottled_usec 50\n");
        let throttle = Throttle::of(&tree.mountinfo("/", "cgroup2 cgroup2 rw"), "0::/pod/box\n");
        assert_eq!(throttle.risen_us(), Some(0));
        tree.write("pod", "usage_usec 9\nnr_throttled 5\nthrottled_usec 4500\n");
        tree.write("pod/box", "usage_usec 9\nnr_throttled 0\nthrottled_usec 60\n");
        assert_eq!(throttle.risen_us(), Some(3500));
    }

    #[test]
    fn version_1_counts_nanoseconds_and_a_container_sees_its_group_as_the_root() {
        let tree = Tree::new();
        tree.write("", "nr_periods 3\nnr_throttled 1\nthrottled_time 7000000\n");
        let mountinfo = tree.mountinfo("/docker/abc", "cgroup cgroup rw,cpu,cpuacct");
        let throttle = Throttle::of(&mountinfo, "4:memory:/x\n3:cpuacct,cpu:/docker/abc\n0::/\n");
        tree.write("", "nr_periods 9\nnr_throttled 2\nthrottled_time 9000000\n");
        assert_eq!(throttle.risen_us(), Some(2000));
    }

    #[test]
    fn where_nothing_is_counted_nothing_is_said() {
        let tree = Tree::new();
        for kind in ["cgroup2 cgroup2 rw", "cgroup cgroup rw,memory"] {
            assert_eq!(Throttle::of(&tree.mountinfo("/", kind), "4:memory:/\n0::/\n").risen_us(), None);
        }
        assert_eq!(Throttle::of("odd\n1 2 - cgroup2\n", "odd\n").risen_us(), None);
    }
}
