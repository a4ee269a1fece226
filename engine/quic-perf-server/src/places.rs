//! Places for connections: so many at once, and so many of them from one address.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serving::Origin;

/// Who has places.
#[derive(Clone, Default)]
pub struct Places(Arc<Mutex<HashMap<Origin, usize>>>);

/// A place, free again once it is dropped.
pub struct Place {
    places: Places,
    origin: Origin,
}

impl Places {
    /// A place for somebody from there, or why there is none.
    pub fn take(&self, origin: Origin, most: usize, of_one: usize) -> Result<Place, String> {
        let mut taken = self.lock();
        if taken.values().sum::<usize>() >= most {
            return Err(format!("all {most} places are taken"));
        }
        let own = taken.entry(origin).or_insert(0);
        if *own >= of_one {
            return Err(format!("its address has all of its {of_one} places"));
        }
        *own += 1;
        drop(taken);
        Ok(Place { places: self.clone(), origin })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Origin, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        let left = taken.remove(&self.origin).unwrap_or(1) - 1;
        if left > 0 {
            taken.insert(self.origin, left);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    #[test]
    fn places_are_shared_and_come_back() {
        let places = Places::default();
        let from = |number: u8| Origin::from(IpAddr::from(Ipv4Addr::new(192, 0, 2, number)));
        let take = |number| places.take(from(number), 3, 2);
        let (first, _second) = (take(1).ok().unwrap(), take(1).ok().unwrap());
        assert_eq!(take(1).err().unwrap(), "its address has all of its 2 places");
        let _other = take(2).ok().unwrap();
        assert_eq!(take(3).err().unwrap(), "all 3 places are taken");
        drop(first);
        assert!(take(3).is_ok());
    }
}
